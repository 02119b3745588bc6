import { setTimeout as rest } from 'node:timers/promises';

/** Default time limit for a condition to become true. High, because the machine may stall for many seconds. */
export const WITHIN_MS = 60_000;
const REST_MS = 25;
const REST_MS_MAX = 500;

/** Polls until the answer satisfies the predicate, and returns it. Throws with the last answer on timeout. */
export async function until<T>(
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  withinMs = WITHIN_MS,
): Promise<T> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const askedAtMs = performance.now();
    const answer = await ask();
    const askedForMs = performance.now() - askedAtMs;
    if (isWanted(answer)) return answer;
    if (Date.now() >= deadlineMs)
      throw new Error(`Not so within ${withinMs} ms; the last answer was ${JSON.stringify(answer)}.`);
    await rest(Math.min(Math.max(REST_MS, askedForMs), REST_MS_MAX));
  }
}
