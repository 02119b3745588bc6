import { localeOf } from './locale-of';

describe('localeOf', () => {
  it.each<[name: string, language: string, preferred: string[], expected: string]>([
    ['the region of the language', 'en', ['de-AT', 'en-GB', 'en-US'], 'en-GB'],
    ['the language, if the browser lists another language only', 'en', ['fr-FR'], 'en'],
    ['the language, if the browser lists nothing', 'de', [], 'de'],
    ['no language that begins with the same letters', 'en', ['enm-GB'], 'en'],
  ])('returns %s', (_name, language, preferred, expected) => {
    expect(localeOf(language, preferred)).toBe(expected);
  });
});
