import { preferences } from '../preferences';
import { de } from './de';
import { en } from './en';

/** Key of a text. The code does not compile if a key is missing in a language. */
export type MessageKey = keyof typeof en;

/**
 * Returns a text in the user's language. Replaces `{name}` with the value of that name, as text and never as markup.
 */
export function t(key: MessageKey, values: Readonly<Record<string, string | number>> = {}): string {
  const text = (preferences().language === 'de' ? de : en)[key];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => shown(values[name]) ?? whole);
}

/**
 * Returns the text for an enum value of the API. Returns a value without a text unchanged, because the API may add
 * values.
 */
export function word(
  prefix:
    | 'status'
    | 'reason'
    | 'error'
    | 'validation'
    | 'circuit'
    | 'scope'
    | 'source'
    | 'concern'
    | 'audit.type'
    | 'concern-text'
    | 'fix'
    | 'job'
    | 'signature'
    | 'record'
    | 'scan'
    | 'dkim'
    | 'forward'
    | 'quarantine'
    | 'kind'
    | 'role'
    | 'fact-type'
    | 'origin'
    | 'email.why'
    | 'verdict',
  name: string,
  values: Readonly<Record<string, string | number>> = {},
): string {
  const key = `${prefix}.${name}`;
  return key in en ? t(key as MessageKey, values) : name;
}

const NUMBERS = { en: new Intl.NumberFormat('en'), de: new Intl.NumberFormat('de') };

function shown(value: string | number | undefined): string | undefined {
  return typeof value === 'number' ? NUMBERS[preferences().language].format(value) : value;
}
