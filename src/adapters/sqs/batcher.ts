export interface BatchLimits {
  entriesMax: number;
  /** Maximum total size of a batch in bytes. A larger entry is sent alone. */
  bytesMax: number;
  lingerMs: number;
  /** Whether a batch waits for the response to the previous batch. */
  isOrdered: boolean;
}

interface Waiting<E, A> {
  entry: E;
  resolve: (answer: A) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches entries that arrive within the linger time. `send` returns one result per entry, at the same index. If `send`
 * rejects, every entry of the batch gets the error. An idle batcher has no timer and keeps no data.
 */
export class Batcher<E extends { bytes: number }, A> {
  private waiting: Waiting<E, A>[] = [];
  private waitingBytes = 0;
  private timer: NodeJS.Timeout | null = null;
  private isSending = false;

  constructor(
    private readonly limits: BatchLimits,
    private readonly send: (entries: E[]) => Promise<A[]>,
  ) {}

  /** Returns the result for the entry. Rejects only if `send` rejects or returned no result for this entry. */
  add(entry: E): Promise<A> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ entry, resolve, reject });
      this.waitingBytes += entry.bytes;
      if (this.waiting.length >= this.limits.entriesMax || this.waitingBytes >= this.limits.bytesMax) this.flush();
      else this.timer ??= setTimeout(() => this.flush(), this.limits.lingerMs);
    });
  }

  private flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    // In ordered mode, waiting entries are sent as soon as the batch in flight has its response.
    while (this.waiting.length > 0 && !(this.limits.isOrdered && this.isSending)) void this.run(this.take());
  }

  private async run(batch: Waiting<E, A>[]): Promise<void> {
    this.isSending = true;
    try {
      const answers = await this.send(batch.map(({ entry }) => entry));
      batch.forEach(({ resolve, reject }, index) => {
        const answer = answers[index];
        if (answer === undefined) reject(new Error('A batch was sent, but one of its entries has no answer.'));
        else resolve(answer);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.isSending = false;
    if (this.limits.isOrdered) this.flush();
  }

  /** Takes entries from the front up to the batch limits, but at least one entry. */
  private take(): Waiting<E, A>[] {
    let bytes = 0;
    let count = 0;
    for (const { entry } of this.waiting.slice(0, this.limits.entriesMax)) {
      if (count > 0 && bytes + entry.bytes > this.limits.bytesMax) break;
      bytes += entry.bytes;
      count += 1;
    }
    this.waitingBytes -= bytes;
    return this.waiting.splice(0, count);
  }
}
