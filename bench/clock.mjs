const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * Milliseconds of the system's monotonic clock, the same in every process of the machine.
 *
 * `performance.now()` counts the same clock from the start of its own process and is cheaper to read. The offset
 * between the two is measured once.
 */
export const nowMs = () => performance.now() + offsetMs;
