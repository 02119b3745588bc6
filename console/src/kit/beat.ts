import { useEffect, useRef } from 'react';

/** A task of `useBeat`. Returns the time in milliseconds for which no further task may run. */
export type BeatTask = () => Promise<number>;

/**
 * Runs tasks in rotation: one task at a time, at most one per `everyMs`, and none while the page is hidden. The load of
 * an open screen on the service therefore does not grow with the number of tasks.
 */
export function useBeat(tasks: readonly BeatTask[], everyMs = 5_000): void {
  const latest = useRef(tasks);
  useEffect(() => void (latest.current = tasks));
  useEffect(() => {
    let turn = 0;
    let isBusy = false;
    let notBefore = performance.now() + everyMs;
    const beat = (): void => {
      const { current } = latest;
      const task = current[turn % Math.max(1, current.length)];
      if (task === undefined || isBusy || document.visibilityState === 'hidden' || performance.now() < notBefore)
        return;
      turn += 1;
      isBusy = true;
      notBefore = performance.now() + everyMs;
      task()
        .catch(() => 0)
        .then(
          (waitMs) => {
            isBusy = false;
            notBefore = Math.max(notBefore, performance.now() + waitMs);
          },
          () => undefined,
        );
    };
    const timer = setInterval(beat, everyMs / 10);
    return () => clearInterval(timer);
  }, [everyMs]);
}
