import type { Job, JobEnd, ThreadSlot } from '#sandbox/thread-slot.js';

const PAUSE_MS_FIRST = 100;
const PAUSE_MS_MAX = 2_000;

/**
 * Runs a job on a worker thread and returns its result. While all threads are busy, retries until `untilMs`
 * (monotonic).
 */
export async function runUntil<C, A>(
  threadSlot: Pick<ThreadSlot<C, A>, 'run'>,
  job: Job<C>,
  untilMs: number,
): Promise<JobEnd<A>> {
  for (let pauseMs = PAUSE_MS_FIRST; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    const end = await threadSlot.run(job);
    if (!('why' in end) || end.why !== 'busy' || performance.now() + pauseMs >= untilMs) return end;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
