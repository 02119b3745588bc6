/** The CPU time that something takes of this process, in milliseconds, whatever else the machine does: for what must not take the square of its input. */
export function cpuMsOf(act: () => void): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
