const SECONDS_MIN = 300;
const SECONDS_MAX = 3_600;

/**
 * For how long a document counts whose `Cache-Control` (RFC 9111, section 5.2.2) says this, in seconds: between five minutes, so that nobody makes
 * us ask for it at every sign-in, and an hour, so that what an application changes is known the same day; an hour where nothing is said.
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

/** The smallest that is said, where one says it twice; nothing for what is no number. */
function secondsOf(said: readonly string[], name: string): number | null {
  const found = said.flatMap((one) => new RegExp(`^${name}="?(\\d{1,10})"?$`).exec(one)?.[1] ?? []).map(Number);
  return found.length === 0 ? null : Math.min(...found);
}
