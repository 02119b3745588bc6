import { retryWhileBusy } from './retry-while-busy';

/** Runs an action on many items, a few at a time, with retries. Returns the number of failures, and the last error. */
export async function doToMany(
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
  onProgress: (done: number, failed: number) => void,
  signal: AbortSignal,
): Promise<{ failed: number; fault: unknown }> {
  const waiting = [...ids];
  const state = { done: 0, failed: 0, fault: null as unknown };
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const each = id;
      try {
        await retryWhileBusy(
          () => act(each),
          () => undefined,
          signal,
        );
      } catch (error) {
        state.failed += 1;
        state.fault = error;
      }
      state.done += 1;
      onProgress(state.done, state.failed);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return state;
}
