import type { DestinationStream } from 'pino';

/** Nobody who follows the log notices, and ten thousand lines a second are a hundred writes. */
const HELD_MS_MAX = 20;
/** What a pipe takes at once is four times as much. */
const HELD_CHARACTERS_MAX = 16_384;

/**
 * Lines that are written together, and with the process's end at the latest: a write for each would cost more than the line
 * itself, on both ends of the pipe. A process that is killed takes those of its last moment with it.
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

  /** Before a line that comes by another way, so that the order stays. */
  flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.held === '') return;
    const lines = this.held;
    this.held = '';
    this.destination.write(lines);
  }
}
