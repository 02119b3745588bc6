import type { DestinationStream } from 'pino';

/** Unnoticed by a reader of the log. Ten thousand lines a second become about a hundred writes. */
const HELD_MS_MAX = 20;
/** A quarter of what a pipe accepts in one write. */
const HELD_CHARACTERS_MAX = 16_384;

/**
 * Writes log lines in batches, and at the latest when the process exits. A write for each line would cost more than the
 * line itself, on both ends of the pipe. A process that is killed loses the lines that it still holds.
 */
export class BatchedLines implements DestinationStream {
  private held = '';
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly destination: DestinationStream,
    atExit = (work: () => void): void => void process.once('exit', work),
  ) {
    atExit(() => this.flush());
  }

  write(line: string): void {
    this.held += line;
    if (this.held.length >= HELD_CHARACTERS_MAX) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), HELD_MS_MAX).unref();
  }

  /** Writes the held lines. Call it before a line that bypasses the batch, to keep the order. */
  flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.held === '') return;
    const lines = this.held;
    this.held = '';
    this.destination.write(lines);
  }
}
