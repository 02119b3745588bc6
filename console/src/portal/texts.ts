import { preferences } from '../kit/preferences';
import { de } from './texts-de';
import { en } from './texts-en';

/**
 * Returns a text of the portal in the user's language. Replaces `{name}` with the value of that name, as text and never
 * as markup.
 */
export function p(key: keyof typeof en, values: Readonly<Record<string, string | number>> = {}): string {
  const text: string = (preferences().language === 'de' ? de : en)[key];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return typeof value === 'number' ? new Intl.NumberFormat(preferences().language).format(value) : (value ?? whole);
  });
}
