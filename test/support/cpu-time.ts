/** Runs of each length. The smallest CPU time counts, because compilation and garbage collection take additional time. */
const RUNS = 3;
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
  const shortMs = await cpuMsOf(text.slice(0, text.length / LONGER), work);
  return (await cpuMsOf(text, work)) / Math.max(shortMs, LEAST_MS);
}

async function cpuMsOf(text: string, work: (text: string) => unknown): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const before = process.cpuUsage();
    await work(text);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  return Math.min(...times);
}
