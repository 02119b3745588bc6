import { useEffect, useState } from 'react';

/** Returns the current time and rerenders every `everyMs` milliseconds. */
export function useNow(clock: () => number, everyMs: number): number {
  const [now, setNow] = useState(clock);
  useEffect(() => {
    const timer = setInterval(() => setNow(clock()), everyMs);
    return () => clearInterval(timer);
  }, [clock, everyMs]);
  return now;
}
