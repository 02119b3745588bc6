import type { DestinationStream } from 'pino';

/** Maximum delay of a log line, to reduce 10,000 writes per second to a hundred. */
const HELD_MS_MAX = 20;
/** Maximum size of a batch in characters: a quarter of the data that a pipe accepts in one write. */
const HELD_CHARACTERS_MAX = 16_384;

/**
 * Writes log lines in batches, and the rest when the process exits. A separate write for each line would cost more CPU
 * than formatting the line, and burden the reader of the pipe. A killed process loses its buffered lines.
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

  /** Writes the buffered lines. Call it before writing a line directly, to preserve the order. */
  flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.held === '') return;
    const lines = this.held;
    this.held = '';
    this.destination.write(lines);
  }
}
