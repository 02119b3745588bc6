import { preferences } from '../preferences';
import { de } from './de';
import { en } from './en';

/** The name of a text. A language that lacks one does not compile. */
export type MessageKey = keyof typeof en;

/** A text in the reader's language, with `{name}` replaced by values, which are texts and never markup. */
export function t(key: MessageKey, values: Readonly<Record<string, string | number>> = {}): string {
  const text = (preferences().language === 'de' ? de : en)[key];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => shown(values[name]) ?? whole);
}

/** The text of a word of the API, or the word itself when there is none: the API may learn new ones. */
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
