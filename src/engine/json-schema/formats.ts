import { fastFormats, fullFormats } from 'ajv-formats/dist/formats.js';

type Test = (text: string) => boolean;

/**
 * Returns a test that also rejects texts over `lengthMax`. Such texts are invalid, and slow for some regular
 * expressions.
 */
const short = (format: unknown, lengthMax: number): Test => {
  const test = testOf(format);
  return (text) => text.length <= lengthMax && test(text);
};

/**
 * Supported formats. `uri` uses the quick regular expression, which is linear, because a data URL may embed a whole
 * file. Other formats are only annotations, which is the default of draft 2020-12.
 */
export const FORMATS: Readonly<Record<string, Test>> = {
  date: short(fullFormats.date, 10),
  time: short(fullFormats.time, 64),
  'date-time': short(fullFormats['date-time'], 64),
  duration: short(fullFormats.duration, 128),
  email: short(fastFormats.email, 320),
  hostname: short(fullFormats.hostname, 254),
  ipv4: short(fullFormats.ipv4, 15),
  ipv6: short(fullFormats.ipv6, 45),
  uri: testOf(fastFormats.uri),
  uuid: short(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i, 36),
  'json-pointer': short(fullFormats['json-pointer'], 8_192),
};

/** Returns a format's test. ajv-formats defines it as a regular expression, a function, or an object with either. */
function testOf(format: unknown): Test {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return format as Test;
  if (typeof format === 'object' && format !== null && 'validate' in format) return testOf(format.validate);
  throw new Error('ajv-formats has a format that is no test.');
}
