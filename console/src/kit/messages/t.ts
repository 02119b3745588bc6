import { preferences } from '../preferences';
import { de } from './de';
import { en } from './en';

/** Key of a text. If a language lacks a key, the code does not compile. */
export type MessageKey = keyof typeof en;

/**
 * Returns a text in the user's language. Replaces `{name}` with values, which are inserted as text and never as markup.
 */
export function t(key: MessageKey, values: Readonly<Record<string, string | number>> = {}): string {
  const text = (preferences().language === 'de' ? de : en)[key];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => shown(values[name]) ?? whole);
}

/** Returns the text for an enum value of the API, or the value itself if it has no text. The API may add new values. */
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
    | 'job'
    | 'actor'
    | 'signature'
    | 'record'
    | 'scan'
    | 'quarantine'
    | 'kind'
    | 'role'
    | 'fact-type'
    | 'origin'
    | 'email.why'
    | 'verdict',
  name: string,
): string {
  const key = `${prefix}.${name}`;
  return key in en ? t(key as MessageKey) : name;
}

const NUMBERS = { en: new Intl.NumberFormat('en'), de: new Intl.NumberFormat('de') };

function shown(value: string | number | undefined): string | undefined {
  return typeof value === 'number' ? NUMBERS[preferences().language].format(value) : value;
}
