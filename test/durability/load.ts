import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sent } from './checker.js';
import { hashOf, payloadOf } from './payload.js';
import { Seeded } from './random.js';
import { AGAIN_MS, Sender } from './sender.js';

/** Targets and concurrency of the load. */
export interface LoadOptions {
  /** Addresses of the API. After a failed attempt the load continues with the next one. */
  urls: readonly string[];
  apiKey: string;
  destinations: readonly string[];
  seed: number;
  /** Number of concurrent requests. */
  concurrency: number;
  /** Pause of each sender after each message. Default 0. */
  pauseMs?: number;
  /** Multiplies the timeout of an attempt. Default 1. */
  pace?: () => number;
  /** Returns the `urls` to which a load balancer would send now. Default: all of them. */
  ready?: () => readonly string[];
}

/** An attempt that got neither 202 nor the 409 for a request in flight with the same key. */
export interface FailedTry {
  key: string;
  url: string;
  fromMs: number;
  toMs: number;
  status: string;
}

/** Shares of messages sent again with the same key: after an answer, and concurrently. */
const REPEATED_SHARE = 0.02;
const TWIN_SHARE = 0.02;

/** An API caller that retries each message under its own key until the answer is 202. */
export class Load extends Sender {
  readonly sent: Sent[] = [];
  /** Number of messages accepted by an attempt whose answer was lost. */
  cutAnswers = 0;
  readonly failedTries: FailedTry[] = [];
  private readonly random: Seeded;

  constructor(private readonly options: LoadOptions) {
    super(options.concurrency, options.pace);
    this.random = new Seeded(options.seed);
  }

  async send(): Promise<Sent> {
    const n = this.sent.length;
    const payload = payloadOf(n, this.random);
    const message: Sent = { key: randomUUID(), bodyHash: hashOf(payload), ids: [], acceptedAtMs: null };
    this.sent.push(message);
    const destination = this.options.destinations[n % this.options.destinations.length];
    const body = `{"destination":"${destination}","event_type":"durability.test", "payload":${payload}}`;
    const share = this.random.next();
    if (share < TWIN_SHARE) {
      await Promise.all([n, n + 1].map((firstUrl) => this.sendUntilAccepted(message, body, firstUrl)));
    } else {
      const isReplayed = await this.sendUntilAccepted(message, body, n);
      if (isReplayed) this.cutAnswers += 1;
    }
    if (share > 1 - REPEATED_SHARE) await this.sendUntilAccepted(message, body, n + 1);
    if (message.acceptedAtMs !== null) this.count();
    if (this.options.pauseMs !== undefined) await sleep(this.options.pauseMs);
    return message;
  }

  /**
   * Retries until the message is accepted. Returns true if the 202 is a repetition of the response to an earlier
   * attempt.
   */
  private async sendUntilAccepted(message: Sent, body: string, firstUrl: number): Promise<boolean> {
    const given = { authorization: `Bearer ${this.options.apiKey}`, 'idempotency-key': message.key };
    let failed: string | null = null;
    for (let tries = 0; this.refusals.length === 0; tries += 1) {
      const url = this.nextUrl(firstUrl + tries, failed);
      const fromMs = Date.now();
      const { status, text, headers } = await this.try(`${url}/v1/send`, given, body);
      if (status === '202') {
        note(message, text);
        return headers['idempotent-replayed'] === 'true';
      }
      // A node that answers "in flight" for the same key has not failed.
      failed = status === '409' ? null : url;
      if (failed !== null) this.failedTries.push({ key: message.key, url, fromMs, toMs: Date.now(), status });
      if (isFinal(status, text)) this.refusals.push(`${status} ${text}`);
      else await sleep(AGAIN_MS);
    }
    return false;
  }

  /** Returns the ready nodes in turn, and prefers a different node after a failure. */
  private nextUrl(turn: number, failed: string | null): string {
    const { urls, ready } = this.options;
    const others = (from: readonly string[]): string[] => from.filter((url) => url !== failed);
    const up = ready?.() ?? urls;
    const choice = [others(up), up, others(urls)].find(({ length }) => length > 0) ?? urls;
    return choice[turn % choice.length] as string;
  }
}

/** Records the id in a 202 answer. */
function note(message: Sent, text: string): void {
  const { message_id: id } = JSON.parse(text) as { message_id: string };
  if (!message.ids.includes(id)) message.ids.push(id);
  message.acceptedAtMs ??= Date.now();
}

/** Returns whether the answer is final. A 503, and a 409 for a request in flight, are retried. */
export function isFinal(status: string, text: string): boolean {
  if (status === '409') return !text.includes('in_flight');
  return /^[1-4]\d\d$/.test(status);
}
