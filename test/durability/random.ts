/** A seeded random number generator (mulberry32), with which a failed run can be repeated. */
export class Seeded {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** Returns a number from 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T;
  }

  shuffled<T>(from: readonly T[]): T[] {
    const left = [...from];
    return from.map(() => left.splice(Math.floor(this.next() * left.length), 1)[0] as T);
  }
}

/** Returns the seed of this run: DURABILITY_SEED, or a random one. */
export function runSeed(): number {
  return Number(process.env['DURABILITY_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
}

/**
 * The seed of negative controls. It is fixed, so that every run injects the same errors, which the check must detect.
 */
export const CONTROL_SEED = Number(process.env['DURABILITY_SEED'] ?? 11);

/** Returns the number in an environment variable, or `usual` if it is not set. Soak runs set a higher number. */
export function setting(name: 'DURABILITY_KILLS' | 'DURABILITY_MESSAGES', usual: number): number {
  return Number(process.env[name] ?? usual);
}
