import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Returns milliseconds on a monotonic clock that all threads of the process share. `performance.now()` counts from the
 * start of each thread instead.
 */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/** Returns the system's id of the calling thread, for `cpuMsOf`. Returns null on systems other than Linux. */
export function ownThread(): string | null {
  try {
    return readlinkSync('/proc/thread-self').split('/').pop() ?? null;
  } catch {
    return null;
  }
}

/**
 * Returns the CPU time that a thread of this process has used, in milliseconds. Returns null where it is not available.
 */
export function cpuMsOf(thread: string | null): number | null {
  if (thread === null) return null;
  try {
    const nanoseconds = Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : null;
  } catch {
    return null;
  }
}

/**
 * Returns a function that measures the CPU time of a thread from now on. Measures wall-clock time where CPU time is not
 * available.
 */
export function meterOf(thread: string | null): () => number {
  const [cpuMs, atMs] = [cpuMsOf(thread), performance.now()];
  return () => {
    const nowMs = cpuMs === null ? null : cpuMsOf(thread);
    return cpuMs === null || nowMs === null ? performance.now() - atMs : nowMs - cpuMs;
  };
}
