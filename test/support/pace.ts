import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

/** One piece of work, and its duration from the moment it was due. */
export interface Beat {
  atMs: number;
  tookMs: number;
}

/** Duration of a beat, at most, on two quiet cores: the machine whose seconds the tests name. */
export const BEAT_MS = 20;
/** Beyond it nothing can be judged, and no limit grows so far that a negative control would pass. */
export const PACE_MAX = 12;
/** Multiplies Jest's own time-outs, which end a hang and judge nothing: seven or eight suites at once take so much longer. */
export const BUSY_TIMES = 4;
const SCRIPT = fileURLToPath(new URL('pace-process.mjs', import.meta.url));
/** One beat in ten may be spoilt by chance. */
const SHARE = 0.9;

/**
 * Measures how much longer this machine takes than a quiet one, all the time and by a process of its own. Tests multiply by it
 * the seconds that they allow, so that a busy or slow machine breaks no promise of the service.
 */
export class Pace {
  private readonly beats: Beat[] = [];

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (beat) => this.beats.push(beat as Beat));
  }

  /** Resolves with the first beat. */
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

  /** How many times longer work took since `fromMs` than on a quiet machine: 1 at least, `PACE_MAX` at most. */
  since(fromMs: number): number {
    return paceOf(this.beats, fromMs);
  }

  /** The same for right now. */
  now(): number {
    return this.since(Date.now() - RECENT_MS);
  }

  stop(): void {
    if (this.child.connected) this.child.disconnect();
  }
}

const RECENT_MS = 5_000;

/** The pace that beats show, of those since `fromMs`; of the last one if there are none. */
export function paceOf(beats: readonly Beat[], fromMs: number): number {
  const recent = beats.filter(({ atMs }) => atMs >= fromMs);
  const took = (recent.length > 0 ? recent : beats.slice(-1)).map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const slow = took[Math.min(took.length - 1, Math.floor(took.length * SHARE))] ?? BEAT_MS;
  return Math.min(PACE_MAX, Math.max(1, slow / BEAT_MS));
}
