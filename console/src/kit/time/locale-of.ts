/**
 * Returns the browser's preferred locale of a language, such as `en-GB` for `en`, because regions write dates in
 * different orders. Returns the language if the browser lists none.
 */
export function localeOf(language: string, preferred = globalThis.navigator?.languages ?? []): string {
  return preferred.find((locale) => locale.split('-')[0]?.toLowerCase() === language) ?? language;
}
