import { useEffect, useMemo, useState } from 'react';
import { secondsLeft } from './seconds-left';

const TICK_MS = 250;

/** Returns the seconds that are left of a wait, and rerenders until none is left. Each new object `wait` starts again. */
export function useSecondsLeft(seconds: number, wait: unknown): number {
  const endMs = useMemo(() => performance.now() + seconds * 1_000, [seconds, wait]);
  const [nowMs, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (seconds === 0) return;
    const timer = setInterval(() => {
      const tickMs = performance.now();
      setNow(tickMs);
      if (tickMs >= endMs) clearInterval(timer);
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [seconds, endMs]);
  return secondsLeft(seconds, endMs, nowMs);
}
