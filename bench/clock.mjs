const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * Milliseconds of the system's monotonic clock, the same in every process of the machine.
 *
 * `performance.now()` counts that clock from the start of its own process and is the cheap way to read it; the offset
 * to the clock itself is taken once.
 */
export const nowMs = () => performance.now() + offsetMs;
