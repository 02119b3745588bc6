/**
 * Returns the CPU time of this process that `act` takes, in milliseconds, independent of the machine's other load.
 * Tests use it to detect quadratic run time.
 */
export function cpuMsOf(act: () => void): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
