const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * Returns the time of the system's monotonic clock in milliseconds. All processes of the machine share this clock.
 *
 * `performance.now()` counts the same clock from the start of its own process and is cheaper to read. The offset
 * between the two is measured once.
 */
export const nowMs = () => performance.now() + offsetMs;
