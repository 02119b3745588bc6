const SECONDS_MIN = 300;
const SECONDS_MAX = 3_600;

/**
 * Returns how many seconds to cache a document with this `Cache-Control` (RFC 9111, section 5.2.2). The result is at
 * least five minutes, so that not every sign-in fetches the document. It is at most an hour, which is also the default.
 */
export function keptSeconds(cacheControl: string | undefined): number {
  const said = (cacheControl ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.trim());
  if (said.some((one) => /^(?:no-store|no-cache|private)(?:=|$)/.test(one))) return SECONDS_MIN;
  const seconds = secondsOf(said, 's-maxage') ?? secondsOf(said, 'max-age') ?? SECONDS_MAX;
  return Math.min(Math.max(seconds, SECONDS_MIN), SECONDS_MAX);
}

/**
 * Returns the number in a `Cache-Control` directive, or the smallest number if the directive is repeated. Returns
 * `null` if there is no number.
 */
function secondsOf(said: readonly string[], name: string): number | null {
  const found = said.flatMap((one) => new RegExp(`^${name}="?(\\d{1,10})"?$`).exec(one)?.[1] ?? []).map(Number);
  return found.length === 0 ? null : Math.min(...found);
}
