/** What says that a page of ours asks: no other site's can send it. */
export const CONSOLE_HEADER = { 'x-posthorn-console': '1' };
/** The environment that a call is about. */
export const ENVIRONMENT_HEADER = 'x-posthorn-environment';

/** An answer, and when its head was here, in milliseconds since the epoch. */
export interface Arrived {
  response: Response;
  atMs: number;
}

/** What was asked so long ago is asked again. */
const KEPT_MS = 10_000;

const asked = new Map<string, { answer: Promise<Arrived>; untilMs: number }>();

/**
 * Asks for what a screen is about to ask for: whoever asks the same next, once and soon, has this answer. Without the client, so that it
 * can be done before the rest of the console was loaded.
 */
export function askEarly(request: Request): Promise<Arrived> {
  const answer = arriving(request);
  asked.set(keyOf(request), { answer, untilMs: Date.now() + KEPT_MS });
  // Nobody may come for it.
  answer.catch(() => undefined);
  return answer;
}

/** The answer to a request: the one that was asked for early, or one of its own. */
export function answerTo(request: Request): Promise<Arrived> {
  const key = keyOf(request);
  const early = asked.get(key);
  asked.delete(key);
  return early !== undefined && Date.now() < early.untilMs ? early.answer : arriving(request);
}

async function arriving(request: Request): Promise<Arrived> {
  const response = await fetch(request, { credentials: 'same-origin' });
  return { response, atMs: Date.now() };
}

/** Whatever the order of the parameters of an address and the way in which they are escaped. */
function keyOf({ method, url, headers }: Request): string {
  const { origin, pathname, searchParams } = new URL(url);
  searchParams.sort();
  return `${method} ${origin}${pathname}?${searchParams.toString()} ${headers.get(ENVIRONMENT_HEADER) ?? ''}`;
}
