import { useEffect, useRef } from 'react';

/** One thing that a beat does; it may say how many milliseconds nothing shall be done after it. */
export type BeatTask = () => Promise<number>;

/**
 * Does one of several things at a time, in turn, never more than one in `everyMs`, and nothing while the page is hidden: what a screen
 * that stays open costs the service does not grow with what it shows.
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
