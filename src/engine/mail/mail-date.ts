/** Returns a time in the format of a Date header (RFC 5322, section 3.3), in UTC. */
export function mailDate(at: Date): string {
  return at.toUTCString().replace('GMT', '+0000');
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Hours from UTC of the zone names in RFC 5322, section 4.3. All other names mean UTC. */
const ZONES: ReadonlyMap<string, number> = new Map([
  ['EDT', -4],
  ['EST', -5],
  ['CDT', -5],
  ['CST', -6],
  ['MDT', -6],
  ['MST', -7],
  ['PDT', -7],
  ['PST', -8],
]);
const CHARACTERS_MAX = 200;
const DAY = String.raw`(?:[a-z]{2,9}\.?,?\s*)?`;
const TIME = String.raw`(?<hour>\d{1,2}):(?<minute>\d{1,2})(?::(?<second>\d{1,2})(?:[.,]\d+)?)?(?: ?(?<half>[ap])m\b)?`;
/** Forms of a date: RFC 5322, its obsolete form with hyphens, `ctime`, JavaScript, and RFC 3339. */
const FORMS = [
  String.raw`${DAY}(?<day>\d{1,2})\.?[ -]+(?<month>[a-z]{3})[a-z]{0,6}\.?,?[ -]+(?<year>\d{2,4}),? ${TIME} ?(?<zone>.*)`,
  String.raw`${DAY}(?<month>[a-z]{3})[a-z]{0,6} (?<day>\d{1,2}),? ${TIME} (?:(?<zoneBefore>[a-z]{1,5}|[+-]\d{4}) )?(?<year>\d{4}) ?(?<zone>.*)`,
  String.raw`${DAY}(?<month>[a-z]{3})[a-z]{0,6} (?<day>\d{1,2}),? (?<year>\d{4}),? ${TIME} ?(?<zone>.*)`,
  String.raw`(?<year>\d{4})-(?<monthNumber>\d{2})-(?<day>\d{2})[t ]${TIME} ?(?<zone>.*)`,
].map((form) => new RegExp(`^${form}$`, 'i'));

/**
 * Parses a Date header (RFC 5322, sections 3.3 and 4.3), and the forms that common software writes instead. A date
 * without a zone, or with an unknown zone, is in UTC. Returns null for any other text, and for a day or time that does
 * not exist.
 */
export function parseMailDate(text: string): Date | null {
  const plain = withoutComments(text.slice(0, CHARACTERS_MAX))
    .replace(/\s+/g, ' ')
    .replace(/ ?: ?/g, ':')
    .replaceAll(' ,', ',')
    .trim();
  const found = FORMS.map((form) => form.exec(plain)?.groups).find((groups) => groups !== undefined);
  if (found === undefined) return null;
  const part = (name: string): number => Number(found[name] ?? 0);
  const month = found['month'] === undefined ? part('monthNumber') - 1 : MONTHS.indexOf(found['month'].toLowerCase());
  const [day, minute, second] = [part('day'), part('minute'), part('second')];
  const hour = hourOf(part('hour'), found['half']);
  const midnight = new Date(0).setUTCFullYear(yearOf(found['year'] ?? ''), month, day);
  const isDay = month >= 0 && new Date(midnight).getUTCMonth() === month && day > 0;
  const offset = offsetMinutes(found['zoneBefore'] ?? found['zone'] ?? '');
  if (!isDay || hour > 23 || minute > 59 || second > 60 || offset === null) return null;
  const date = new Date(midnight + ((hour * 60 + minute - offset) * 60 + second) * 1_000);
  // RFC 3339 has years of four digits.
  return /^\d{4}-/.test(date.toISOString()) ? date : null;
}

/** Returns the hour of the day. `half` is `a` or `p` for a time of 12 hours. */
function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return Infinity;
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

/** Returns the year. Two digits are in the years 1950 to 2049, three digits count from 1900 (RFC 5322, section 4.3). */
function yearOf(digits: string): number {
  const year = Number(digits);
  if (digits.length === 2) return year + (year < 50 ? 2000 : 1900);
  return digits.length === 3 ? year + 1900 : year;
}

/** Returns the zone's offset from UTC in minutes, 0 for an unknown zone. Null for an impossible offset. */
function offsetMinutes(zone: string): number | null {
  const [, sign, hours = '', minutes = '0'] = /^(?:utc?|gmt)? ?([+-])(\d{1,2}):?(\d{2})?(?!\d)/i.exec(zone) ?? [];
  if (sign === undefined) return /^\s*[+-]\d/.test(zone) ? null : (ZONES.get(zone.toUpperCase()) ?? 0) * 60;
  const offset = Number(hours) * 60 + Number(minutes);
  return Number(minutes) > 59 || offset >= 24 * 60 ? null : sign === '-' ? -offset : offset;
}

/** Replaces comments, which may be nested, by a space. */
function withoutComments(text: string): string {
  let plain = '';
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    else if (character === ')' && depth > 0) depth -= 1;
    else if (depth === 0) plain += character;
    if (depth > 0 && plain.at(-1) !== ' ') plain += ' ';
  }
  return plain;
}
