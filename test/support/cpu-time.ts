/**
 * Runs of each length, in turns, so that other programs slow down both. The smallest CPU time counts, because
 * compilation and garbage collection take additional time.
 */
const RUNS = 5;
/** Smallest CPU time that is compared, in milliseconds. Shorter times consist mostly of noise. */
const LEAST_MS = 2;
/** Factor between the two lengths. */
const LONGER = 8;

/**
 * Upper bound of `growthOf` for linear work, which takes about 8 times as much CPU time for a text that is 8 times as
 * long. Quadratic work takes 64 times as much.
 */
export const LINEAR = 30;

/**
 * Returns how many times as much CPU time `work` takes for the text as for its first eighth. Both times are measured in
 * this process, so the result does not depend on the speed of the machine.
 */
export async function growthOf(text: string, work: (text: string) => unknown): Promise<number> {
  let [shortMs, longMs] = [Infinity, Infinity];
  for (let run = 0; run < RUNS; run += 1) {
    shortMs = Math.min(shortMs, await cpuMsOf(text.slice(0, text.length / LONGER), work));
    longMs = Math.min(longMs, await cpuMsOf(text, work));
  }
  return longMs / Math.max(shortMs, LEAST_MS);
}

async function cpuMsOf(text: string, work: (text: string) => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
