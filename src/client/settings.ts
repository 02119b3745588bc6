/** Returns the trimmed key. Throws for an invalid key without repeating it: `fetch` would quote it in its error. */
export function usableApiKey(given: unknown): string {
  if (typeof given !== 'string' || given.trim() === '') throw new TypeError('apiKey is missing.');
  const key = given.trim();
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('apiKey has a line break, a space or another character that a key cannot have.');
  return key;
}

/** Returns the URL of the service after validation. `fetch` would quote a URL with credentials in its error. */
export function usableBaseUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new TypeError('baseUrl must be an http or https URL without user and password.');
  }
  return given.trim().replace(/\/+$/, '');
}

/** Checks headers. Throws for a header that cannot be sent. The message contains its name and never its value. */
export function checkHeaders(given: unknown): void {
  if (typeof given !== 'object' || given === null) return;
  const pairs = Symbol.iterator in given ? [...(given as Iterable<[string, unknown]>)] : Object.entries(given);
  for (const [name, value] of pairs) {
    if (typeof value === 'string' && /[\0\r\n]/.test(value.trim()))
      throw new TypeError(
        `The header ${JSON.stringify(name)} has a line break or another character that a header cannot have.`,
      );
  }
}
