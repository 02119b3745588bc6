import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

/** One piece of work, with its duration from the time when it was due. */
export interface Beat {
  atMs: number;
  tookMs: number;
}

/**
 * Maximum duration of a beat (one piece of work) on two quiet cores. The time limits in tests are specified for such a
 * machine.
 */
export const BEAT_MS = 20;
/** Maximum slowdown factor. On a slower machine no test is meaningful, and larger limits would hide injected errors. */
export const PACE_MAX = 12;
/** Factor for Jest's timeouts, which only end hanging tests. */
export const BUSY_TIMES = 4;
const SCRIPT = fileURLToPath(new URL('pace-process.mjs', import.meta.url));
/** Share of beats (pieces of work) that count. The slowest tenth is ignored, because it may consist of outliers. */
const SHARE = 0.9;

/** Measures how many times slower this machine is than a quiet one. Tests multiply their time limits by this pace. */
export class Pace {
  private readonly beats: Beat[] = [];

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (beat) => this.beats.push(beat as Beat));
  }

  /** Starts the measurement. Resolves after the first measured piece of work. */
  static async start(): Promise<Pace> {
    const child = fork(SCRIPT, [process.env['POSTHORN_TEST_DIR'] ?? tmpdir()], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const pace = new Pace(child);
    await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('The pace process ended.'))),
    ]);
    return pace;
  }

  /** Returns how many times longer work took since `fromMs` than on a quiet machine, from 1 to `PACE_MAX`. */
  since(fromMs: number): number {
    return paceOf(this.beats, fromMs);
  }

  /** Returns how many times slower than a quiet machine this machine was within the last seconds. */
  now(): number {
    return this.since(Date.now() - RECENT_MS);
  }

  stop(): void {
    if (this.child.connected) this.child.disconnect();
  }
}

const RECENT_MS = 5_000;

/**
 * Returns the slowdown factor from the pieces of work since `fromMs`, or from the last piece if there is none since
 * then.
 */
export function paceOf(beats: readonly Beat[], fromMs: number): number {
  const recent = beats.filter(({ atMs }) => atMs >= fromMs);
  const took = (recent.length > 0 ? recent : beats.slice(-1)).map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const slow = took[Math.min(took.length - 1, Math.floor(took.length * SHARE))] ?? BEAT_MS;
  return Math.min(PACE_MAX, Math.max(1, slow / BEAT_MS));
}
