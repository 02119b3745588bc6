import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sent } from './checker.js';
import { hashOf, payloadOf } from './payload.js';
import { Seeded } from './random.js';
import { AGAIN_MS, Sender } from './sender.js';

/** Where the load goes, and how much of it at a time. */
export interface LoadOptions {
  /** Addresses of the API; a try that fails goes on at the next one. */
  urls: readonly string[];
  apiKey: string;
  destinations: readonly string[];
  seed: number;
  /** Requests at once. */
  lanes: number;
  /** How long a lane rests after each message; 0 by default. */
  pauseMs?: number;
  /** Multiplies the time for a try; 1 by default. */
  pace?: () => number;
  /** Those of `urls` that a balancer would send to at the moment; all by default. */
  ready?: () => readonly string[];
}

/** A try that was not answered 202, nor that the same key still runs. */
export interface FailedTry {
  key: string;
  url: string;
  fromMs: number;
  toMs: number;
  status: string;
}

/** Sends that are repeated with the same key although they were answered, and sends that are made twice at once. */
const REPEATED_SHARE = 0.02;
const TWIN_SHARE = 0.02;

/** A caller of the API that never gives up: every message is sent under its own key until the answer is 202. */
export class Load extends Sender {
  readonly sent: Sent[] = [];
  /** Messages that were accepted by a try whose answer never came: the next try was told so. */
  cutAnswers = 0;
  readonly failedTries: FailedTry[] = [];
  private readonly random: Seeded;

  constructor(private readonly options: LoadOptions) {
    super(options.lanes, options.pace);
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

  /** Whether the answer was one that an earlier try had earned. */
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
      // A node that says that the same key still runs has not failed.
      failed = status === '409' ? null : url;
      if (failed !== null) this.failedTries.push({ key: message.key, url, fromMs, toMs: Date.now(), status });
      if (isFinal(status, text)) this.refusals.push(`${status} ${text}`);
      else await sleep(AGAIN_MS);
    }
    return false;
  }

  /** In turns over what is ready; after a failure at another one than before, if there is any that is ready. */
  private nextUrl(turn: number, failed: string | null): string {
    const { urls, ready } = this.options;
    const others = (from: readonly string[]): string[] => from.filter((url) => url !== failed);
    const up = ready?.() ?? urls;
    const choice = [others(up), up, others(urls)].find(({ length }) => length > 0) ?? urls;
    return choice[turn % choice.length] as string;
  }
}

/** Writes down the id that a 202 gave. */
function note(message: Sent, text: string): void {
  const { message_id: id } = JSON.parse(text) as { message_id: string };
  if (!message.ids.includes(id)) message.ids.push(id);
  message.acceptedAtMs ??= Date.now();
}

/** Whether the service says no for good. 503 and a request that still runs ask for another try. */
export function isFinal(status: string, text: string): boolean {
  if (status === '409') return !text.includes('in_flight');
  return /^[1-4]\d\d$/.test(status);
}
