import { setTimeout as sleep } from 'node:timers/promises';
import { meaningOf } from './payload.js';
import { Seeded } from './random.js';
import type { Visit } from './routed.js';

/** Settings of a pull consumer. */
export interface ConsumerOptions {
  /** Addresses of the API. After a failed call the consumer continues with the next one. */
  urls: readonly string[];
  apiKey: string;
  /** Id of the pull destination. `place` is its name in the checker's report. */
  feed: string;
  place: string;
  seed: number;
  /** Maximum items of a batch (default 100), and seconds to wait for the first item (default 1). */
  limit?: number;
  wait?: number;
  /**
   * Makes the consumer faulty: it commits a batch before it handles the batch, and crashes between the two every second
   * time.
   */
  isCareless?: boolean;
}

interface Page {
  data: { webhook_id: string; replayed: boolean; payload: unknown }[];
  next_cursor: string | null;
}

const AGAIN_MS = 30;
/** Share of the batches that the consumer acknowledges at once, instead of committing them with its next read. */
const ACKNOWLEDGED_SHARE = 0.2;
/** Share of the batches after which the consumer crashes. */
const DIES_SHARE = 0.1;

/**
 * A consumer that pulls, and commits by cursor or by acknowledgement. The seed chooses when it crashes. An item may
 * arrive again only if the consumer had not committed it.
 */
export class Consumer {
  /** The items that the consumer handled, in order. */
  readonly visits: Visit[] = [];
  /**
   * Number of items that arrived again as allowed. `wrongly` contains the items that were not allowed to arrive again.
   */
  repeated = 0;
  readonly wrongly: string[] = [];
  deaths = 0;
  /** Answers of the API that no call should get. */
  readonly refusals: string[] = [];
  /** Number of consecutive empty batches. */
  emptyInARow = 0;
  private readonly random: Seeded;
  private readonly handled = new Set<string>();
  private uncommitted = new Set<string>();
  private cursor: string | null = null;
  private turn = 0;
  private batches = 0;
  private stopping = false;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: ConsumerOptions) {
    this.random = new Seeded(options.seed);
  }

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      if (!(await this.step())) await sleep(AGAIN_MS);
    }
  }

  /** Handles one batch. Returns false if the service did not answer. */
  private async step(): Promise<boolean> {
    const committing = this.cursor;
    const { limit = 100, wait = 1, isCareless } = this.options;
    const page = await this.call(
      'GET',
      `?limit=${limit}&wait=${wait}${committing === null ? '' : `&cursor=${encodeURIComponent(committing)}`}`,
    );
    if (page === null) return this.mayDie();
    if (committing !== null) this.uncommitted = new Set();
    this.emptyInARow = page.data.length === 0 ? this.emptyInARow + 1 : 0;
    this.cursor = page.next_cursor;
    this.batches += 1;
    if (isCareless && this.batches % 2 === 0 && (await this.acknowledge())) return true;
    this.handle(page);
    // A faulty consumer (`isCareless`) never crashes at random. Otherwise, the number of skipped items would depend on
    // the seed.
    if (isCareless) return true;
    const share = this.random.next();
    if (share < DIES_SHARE) return this.mayDie();
    if (share < DIES_SHARE + ACKNOWLEDGED_SHARE && (await this.acknowledge())) this.uncommitted = new Set();
    return true;
  }

  private handle({ data }: Page): void {
    for (const { webhook_id: id, replayed: isReplayed, payload } of data) {
      const name = `${id}${isReplayed ? ' replayed' : ''}`;
      if (this.handled.has(name)) {
        if (this.uncommitted.has(name)) this.repeated += 1;
        else this.wrongly.push(name);
        continue;
      }
      this.handled.add(name);
      this.uncommitted.add(name);
      // 0 is before every kill. The checker therefore excuses no duplicate by the kill of a worker, because a pull
      // involves no worker.
      const answeredAtMs = 0;
      this.visits.push({
        id,
        isReplayed,
        place: this.options.place,
        bodyHash: meaningOf(payload),
        isSigned: true,
        status: 200,
        receivedAtMs: Date.now(),
        answeredAtMs,
      });
    }
  }

  /** Commits the cursor and reads no batch. Returns whether that worked. The next read starts at the cursor. */
  private async acknowledge(): Promise<boolean> {
    if (this.cursor === null || (await this.call('POST', '/ack', { cursor: this.cursor })) === null) return false;
    this.cursor = null;
    return true;
  }

  /** Drops the cursor in half of the calls, as a crash does: the next read starts at the committed position. */
  private mayDie(): false {
    if (this.random.next() < 0.5) {
      this.cursor = null;
      this.deaths += 1;
    }
    return false;
  }

  /** Calls the API. Returns null for every failure, because a consumer handles all failures in the same way. */
  private async call(method: string, rest: string, body?: object): Promise<Page | null> {
    const { urls, apiKey, feed } = this.options;
    const url = urls[this.turn % urls.length] as string;
    try {
      const response = await fetch(`${url}/v1/pull/${feed}${rest}`, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
      });
      if (response.status >= 400 && response.status < 500)
        this.refusals.push(`${response.status} ${await response.text()}`);
      if (!response.ok) throw new Error(`It answered ${response.status}.`);
      return (await response.json()) as Page;
    } catch {
      this.turn += 1;
      return null;
    }
  }
}
