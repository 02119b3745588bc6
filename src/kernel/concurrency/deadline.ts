/** Thrown when the deadline has passed. The work may still finish, but its result is discarded. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';

  constructor(readonly afterMs: number) {
    super(`Not finished within ${afterMs} ms.`);
  }
}

/** Resolves with the result of `work`, or rejects with its error, or with `DeadlinePassed` after `ms`. */
export function withDeadline<T>(ms: number, work: () => T | PromiseLike<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = setTimeout(() => reject(new DeadlinePassed(ms)), ms);
    const failed = (error: Error): void => {
      clearTimeout(late);
      reject(error);
    };
    try {
      // Resolving with the inner promise would cost every delivery another promise and two microtask ticks.
      Promise.resolve(work()).then((value) => {
        clearTimeout(late);
        resolve(value);
      }, failed);
    } catch (error) {
      failed(error as Error);
    }
  });
}
