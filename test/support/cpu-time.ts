/**
 * Returns the CPU time that `act` takes in this process, in milliseconds. Tests use it to detect quadratic run time.
 */
export function cpuMsOf(act: () => void): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
