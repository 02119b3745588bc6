import { setTimeout as rest } from 'node:timers/promises';

/** Asks until the answer is as wanted, and returns it; throws what was answered last once the time is over. */
export async function until<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean, withinMs = 10_000): Promise<T> {
  const deadlineMs = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (Date.now() >= deadlineMs) throw new Error(`Not so within ${withinMs} ms; the last answer was ${JSON.stringify(answer)}.`);
    await rest(25);
  }
}
