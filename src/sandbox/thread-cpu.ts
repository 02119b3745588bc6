import { readFileSync, readlinkSync } from 'node:fs';

/** Milliseconds of a clock that all threads of the process share and that nothing sets; `performance.now()` counts from the start of each thread. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/** The calling thread's number, by which `cpuMsOf` knows it; null where the system does not tell (it is Linux's). */
export function ownThread(): string | null {
  try {
    return readlinkSync('/proc/thread-self').split('/').pop() ?? null;
  } catch {
    return null;
  }
}

/** The CPU time that a thread of this process has used so far, in milliseconds; null where it is not to be had. */
export function cpuMsOf(thread: string | null): number | null {
  if (thread === null) return null;
  try {
    const nanoseconds = Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : null;
  } catch {
    return null;
  }
}

/** What a thread uses from now on: CPU time, or the time that passes where CPU time is not to be had. */
export function meterOf(thread: string | null): () => number {
  const [cpuMs, atMs] = [cpuMsOf(thread), performance.now()];
  return () => {
    const nowMs = cpuMs === null ? null : cpuMsOf(thread);
    return cpuMs === null || nowMs === null ? performance.now() - atMs : nowMs - cpuMs;
  };
}
