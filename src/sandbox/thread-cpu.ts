import { readFileSync, readlinkSync } from 'node:fs';

/** Returns the time of a clock that all threads share. `performance.now()` starts at zero in each thread. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/** Returns the operating system's id of the calling thread, or null on systems other than Linux. */
export function ownThread(): string | null {
  try {
    return readlinkSync('/proc/thread-self').split('/').pop() ?? null;
  } catch {
    return null;
  }
}

/** Returns a thread's CPU time, or null if it is not available. */
export function cpuMsOf(thread: string | null): number | null {
  if (thread === null) return null;
  try {
    const nanoseconds = Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : null;
  } catch {
    return null;
  }
}

/** Returns a meter that starts now. It measures wall-clock time if CPU time is not available. */
export function meterOf(thread: string | null): () => number {
  const [cpuMs, atMs] = [cpuMsOf(thread), performance.now()];
  return () => {
    const nowMs = cpuMs === null ? null : cpuMsOf(thread);
    return cpuMs === null || nowMs === null ? performance.now() - atMs : nowMs - cpuMs;
  };
}
