/** When a batch is full, and how long it waits to become so. */
export interface BatchLimits {
  entriesMax: number;
  /** Of all its entries; one that is larger goes alone. */
  bytesMax: number;
  lingerMs: number;
  /** One batch at a time: what was added first is answered before what comes later is sent. */
  isOrdered: boolean;
}

interface Waiting<E, A> {
  entry: E;
  resolve: (answer: A) => void;
  reject: (error: unknown) => void;
}

/**
 * Gathers what is added within a few milliseconds and sends it as one. Every entry gets exactly one answer: that of its
 * place in what `send` returns, or its error. It holds nothing while nothing waits or is under way.
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

  /** Rejects only when `send` does, or when it returned no answer for this entry. */
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
    // In order, what waits goes as soon as the one under way is answered.
    while (this.waiting.length > 0 && !(this.limits.isOrdered && this.isSending)) void this.run(this.take());
  }

  private async run(batch: Waiting<E, A>[]): Promise<void> {
    this.isSending = true;
    try {
      const answers = await this.send(batch.map(({ entry }) => entry));
      batch.forEach(({ resolve, reject }, index) => {
        const answer = answers[index];
        if (answer === undefined) reject(new Error('A batch was sent, and one of its entries got no answer.'));
        else resolve(answer);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.isSending = false;
    if (this.limits.isOrdered) this.flush();
  }

  /** From the front: as many as fit, and at least one. */
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
