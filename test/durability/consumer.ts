import { setTimeout as sleep } from 'node:timers/promises';
import { meaningOf } from './payload.js';
import { Seeded } from './random.js';
import type { Visit } from './routed.js';

/** How a consumer pulls. */
export interface ConsumerOptions {
  /** Addresses of the API; a call that fails goes on at the next one. */
  urls: readonly string[];
  apiKey: string;
  /** What it pulls from, and what the place is called. */
  feed: string;
  place: string;
  seed: number;
  /** Items of a batch, and for how many seconds to wait for the first; 100 and 1 when left out. */
  limit?: number;
  wait?: number;
  /** True for one that commits before it handles, and dies in between every second time: it must be found out. */
  isCareless?: boolean;
}

interface Page {
  data: { webhook_id: string; replayed: boolean; payload: unknown }[];
  next_cursor: string | null;
}

const AGAIN_MS = 30;
/** Of the batches: after so many it acknowledges and forgets its cursor, and after so many it dies before it commits. */
const ACKNOWLEDGED_SHARE = 0.2;
const DIES_SHARE = 0.1;

/**
 * A consumer that pulls, commits by cursor or by acknowledgement, and dies now and then, as its seed says; after a failed
 * call too. What it handled and had not committed may come again, and nothing else may.
 */
export class Consumer {
  /** What it handled, in its order. */
  readonly visits: Visit[] = [];
  /** Items that came again as they may, and as they may not. */
  repeated = 0;
  readonly wrongly: string[] = [];
  deaths = 0;
  /** Answers that no call should get. */
  readonly refusals: string[] = [];
  /** Empty batches in a row. */
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

  /** One batch; false when the service did not answer. */
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
    // It has its own way of dying: by the dice too, what it skips would be another number with every seed.
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
      // No kill of a worker explains a copy here: nothing of a pull is ever under way in one.
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

  /** Commits without reading on, and goes on from what is committed. */
  private async acknowledge(): Promise<boolean> {
    if (this.cursor === null || (await this.call('POST', '/ack', { cursor: this.cursor })) === null) return false;
    this.cursor = null;
    return true;
  }

  /** Its memory is gone: it goes on from what is committed, wherever that is. */
  private mayDie(): false {
    if (this.random.next() < 0.5) {
      this.cursor = null;
      this.deaths += 1;
    }
    return false;
  }

  /** Null for every failure: which of them it is makes no difference to a consumer. */
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
