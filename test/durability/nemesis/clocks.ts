import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '../processes.js';

const PRELOAD = pathToFileURL(path.join(import.meta.dirname, 'clock-shift.mjs')).href;
/** Time limit for a clock shift to take effect. It is long, because the process may still be starting. */
const SEEN_MS_MAX = 90_000;

/** The wall clock of one process, which can be set wrong. */
export class ProcessClock {
  private readonly file: string;

  constructor(directory: string, name: string) {
    this.file = path.join(directory, `${name}.clock`);
    writeFileSync(this.file, '0');
  }

  /** Returns the environment variables that give the process this clock. */
  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${PRELOAD}`, CLOCK_SHIFT_FILE: this.file };
  }

  /** Shifts the clock of the running process, and of the processes that replace it after a restart. */
  shift(ms: number): void {
    rmSync(`${this.file}.seen`, { force: true });
    writeFileSync(this.file, String(ms));
  }

  /** Resolves once the process uses the shifted clock. */
  async seen(ms: number): Promise<void> {
    if (!(await eventually(() => this.read() === ms, SEEN_MS_MAX, 20))) throw new Error(`${this.file} was not read.`);
  }

  private read(): number | null {
    try {
      return Number(readFileSync(`${this.file}.seen`, 'utf8'));
    } catch {
      return null;
    }
  }
}
