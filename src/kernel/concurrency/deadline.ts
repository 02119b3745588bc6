/** What was waited for has not ended in time; it may still end, and nobody hears of it. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';

  constructor(readonly afterMs: number) {
    super(`Not ended within ${afterMs} ms.`);
  }
}

/**
 * What `work` comes to, when that takes no longer than `ms`; else rejects with `DeadlinePassed`. A throw of `work` is a
 * rejection, and whatever becomes of it after the deadline is dropped.
 */
export function withDeadline<T>(ms: number, work: () => T | PromiseLike<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = setTimeout(() => reject(new DeadlinePassed(ms)), ms);
    const failed = (error: Error): void => {
      clearTimeout(late);
      reject(error);
    };
    try {
      // Not by resolving another promise with it: each delivery would pay for that one, and for two turns of the queue.
      Promise.resolve(work()).then((value) => {
        clearTimeout(late);
        resolve(value);
      }, failed);
    } catch (error) {
      failed(error as Error);
    }
  });
}
