import cluster, { type Worker } from 'node:cluster';
import type { ListeningAddress } from './listening.js';
import type { Errand, Word } from './messages.js';

/** Longer than the parent waits for the slowest process. */
const SCRAPE_MS_MAX = 10_000;

/** This process as one of several behind one port: what it hears of its parent, and says to it. */
export class Member {
  private readonly scrapes = new Map<number, (text: string) => void>();
  private lastScrape = 0;
  private own: () => Promise<string> = async () => '';

  private constructor(
    private readonly worker: Worker,
    /** What the parent sent it to begin with. */
    readonly beginning: Extract<Errand, { kind: 'begin' }>,
  ) {
    // What could not be said to a parent that has just died; that it is gone is heard by `disconnect`.
    worker.on('error', () => undefined);
    worker.on('message', (errand: Errand) => this.hear(errand));
  }

  /** Null when this process is on its own. Resolves with what the parent has made ready. */
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

  /** When the parent is gone, and with it the port: without it Node.js would end this process in the middle of its work. */
  orphaned(end: () => void): void {
    this.worker.once('disconnect', () => {
      this.worker.exitedAfterDisconnect = true;
      end();
    });
  }

  up(addresses: readonly ListeningAddress[]): void {
    this.say({ kind: 'up', addresses });
  }

  /** Resolves once the parent has the line, or can't have it any more. */
  async failed(line: string): Promise<void> {
    await new Promise<void>((resolve) => this.say({ kind: 'failed', line }, resolve));
  }

  /** How this process answers when metrics are asked for; `own` is Prometheus text. */
  tells(own: () => Promise<string>): void {
    this.own = own;
  }

  /** The metrics of all processes; those of this one alone when the parent does not answer. */
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
