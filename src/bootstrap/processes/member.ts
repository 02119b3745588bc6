import cluster, { type Worker } from 'node:cluster';
import type { ListeningAddress } from './listening.js';
import type { MemberMessage, ParentMessage } from './messages.js';

/** Time limit for a scrape. It exceeds the time limit that the parent sets for the slowest process. */
const SCRAPE_MS_MAX = 10_000;

/** This process as one of several processes behind shared ports. Exchanges messages with the parent process. */
export class Member {
  private readonly scrapes = new Map<number, (text: string) => void>();
  private lastScrape = 0;
  private own: () => Promise<string> = async () => '';

  private constructor(
    private readonly worker: Worker,
    readonly beginning: Extract<ParentMessage, { kind: 'begin' }>,
  ) {
    // Ignores errors when sending to a parent that has exited. The `disconnect` event reports its exit.
    worker.on('error', () => undefined);
    worker.on('message', (message: ParentMessage) => this.onMessage(message));
  }

  /** Resolves with the parent's first message, or with null if this process runs alone. */
  static async join(): Promise<Member | null> {
    const { worker } = cluster;
    if (worker === undefined) return null;
    const first = new Promise<ParentMessage>((resolve) => worker.once('message', resolve));
    worker.send({ kind: 'joined' } satisfies MemberMessage, () => undefined);
    const beginning = await first;
    if (beginning.kind !== 'begin') throw new Error(`The parent began with ${beginning.kind}.`);
    return new Member(worker, beginning);
  }

  get number(): number {
    return this.beginning.number;
  }

  /**
   * Calls `end` when the parent, which listens on the ports, has exited. By default, Node.js would abort work in
   * progress.
   */
  orphaned(end: () => void): void {
    this.worker.once('disconnect', () => {
      this.worker.exitedAfterDisconnect = true;
      end();
    });
  }

  up(addresses: readonly ListeningAddress[]): void {
    this.send({ kind: 'up', addresses });
  }

  /** Reports a failed start to the parent. Resolves once the report is sent or cannot be sent any more. */
  async failed(line: string): Promise<void> {
    await new Promise<void>((resolve) => this.send({ kind: 'failed', line }, resolve));
  }

  serveMetrics(own: () => Promise<string>): void {
    this.own = own;
  }

  /** Returns the metrics of all processes, or only those of this process if the parent does not respond. */
  async figures(): Promise<string> {
    const scrape = ++this.lastScrape;
    let timer: NodeJS.Timeout | undefined;
    const text = await new Promise<string | null>((resolve) => {
      this.scrapes.set(scrape, resolve);
      timer = setTimeout(() => resolve(null), SCRAPE_MS_MAX);
      this.send({ kind: 'scrape', scrape });
    });
    clearTimeout(timer);
    this.scrapes.delete(scrape);
    return text ?? this.own();
  }

  private onMessage(message: ParentMessage): void {
    if (message.kind === 'collect') void this.sendMetrics(message.scrape);
    else if (message.kind === 'scraped') this.scrapes.get(message.scrape)?.(message.text);
  }

  private async sendMetrics(scrape: number): Promise<void> {
    this.send({ kind: 'collected', scrape, text: await this.own().catch(() => '') });
  }

  private send(message: MemberMessage, then: () => void = () => undefined): void {
    this.worker.send(message, then);
  }
}
