const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * Returns the time of the system's monotonic clock in milliseconds, which is the same in all processes. The offset
 * corrects `performance.now()`, which starts at 0 in each process.
 */
export const nowMs = () => performance.now() + offsetMs;
