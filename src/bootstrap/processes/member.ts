import cluster, { type Worker } from 'node:cluster';
import type { ListeningAddress } from './listening.js';
import type { Errand, Word } from './messages.js';

/** Time limit for a scrape. It is longer than the parent's time limit for the slowest process. */
const SCRAPE_MS_MAX = 10_000;

/** Represents this process as one of several processes behind shared ports. */
export class Member {
  private readonly scrapes = new Map<number, (text: string) => void>();
  private lastScrape = 0;
  private own: () => Promise<string> = async () => '';

  private constructor(
    private readonly worker: Worker,
    readonly beginning: Extract<Errand, { kind: 'begin' }>,
  ) {
    // Sending to a dead parent causes these errors. The `disconnect` event reports the parent's death.
    worker.on('error', () => undefined);
    worker.on('message', (errand: Errand) => this.hear(errand));
  }

  /** Resolves with the parent's first message, or with null if this process runs alone. */
  static async join(): Promise<Member | null> {
    const { worker } = cluster;
    if (worker === undefined) return null;
    const heard = new Promise<Errand>((resolve) => worker.once('message', resolve));
    worker.send({ kind: 'joined' } satisfies Word, () => undefined);
    const beginning = await heard;
    if (beginning.kind !== 'begin') throw new Error(`The parent began with ${beginning.kind}.`);
    return new Member(worker, beginning);
  }

  get number(): number {
    return this.beginning.number;
  }

  /** Calls `end` when the parent, which holds the port, is gone. By default, Node.js would exit during its work. */
  orphaned(end: () => void): void {
    this.worker.once('disconnect', () => {
      this.worker.exitedAfterDisconnect = true;
      end();
    });
  }

  up(addresses: readonly ListeningAddress[]): void {
    this.say({ kind: 'up', addresses });
  }

  /** Resolves once the parent has received the line, or can no longer receive it. */
  async failed(line: string): Promise<void> {
    await new Promise<void>((resolve) => this.say({ kind: 'failed', line }, resolve));
  }

  tells(own: () => Promise<string>): void {
    this.own = own;
  }

  /** Returns the metrics of all processes, or only those of this process if the parent does not respond. */
  async figures(): Promise<string> {
    const scrape = ++this.lastScrape;
    let timer: NodeJS.Timeout | undefined;
    const text = await new Promise<string | null>((resolve) => {
      this.scrapes.set(scrape, resolve);
      timer = setTimeout(() => resolve(null), SCRAPE_MS_MAX);
      this.say({ kind: 'scrape', scrape });
    });
    clearTimeout(timer);
    this.scrapes.delete(scrape);
    return text ?? this.own();
  }

  private hear(errand: Errand): void {
    if (errand.kind === 'tell') void this.tell(errand.scrape);
    else if (errand.kind === 'scraped') this.scrapes.get(errand.scrape)?.(errand.text);
  }

  private async tell(scrape: number): Promise<void> {
    this.say({ kind: 'told', scrape, text: await this.own().catch(() => '') });
  }

  private say(word: Word, then: () => void = () => undefined): void {
    this.worker.send(word, then);
  }
}
