const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * Returns the time of the system's monotonic clock in milliseconds. All processes of the machine share this clock.
 *
 * `performance.now()` is cheaper to read than this clock, but starts at 0 in each process. Therefore the offset between
 * the two clocks is measured once and added.
 */
export const nowMs = () => performance.now() + offsetMs;
