import { setTimeout as sleep } from 'node:timers/promises';
import { hashOf, meaningOf, payloadOf } from './payload.js';
import { Seeded } from './random.js';
import type { Posted } from './routed.js';
import { AGAIN_MS, Sender } from './sender.js';

/** Target and concurrency of a provider. */
export interface ProviderOptions {
  /** Addresses of the API. After a failed attempt the provider continues with the next one. */
  urls: readonly string[];
  /** The endpoint's path. */
  path: string;
  seed: number;
  concurrency: number;
}

/** Sends webhooks as providers do: repeats each webhook without changes until the answer is 200. */
export class Provider extends Sender {
  readonly sent: Posted[] = [];
  private readonly random: Seeded;

  constructor(private readonly options: ProviderOptions) {
    super(options.concurrency);
    this.random = new Seeded(options.seed);
  }

  async send(): Promise<Posted> {
    const n = this.sent.length;
    const body = payloadOf(n, this.random);
    const posted: Posted = {
      n,
      key: `webhook ${n}`,
      bodyHash: hashOf(body),
      meaning: meaningOf(JSON.parse(body)),
      ids: [],
      firstTryAtMs: Date.now(),
      acceptedAtMs: null,
      unanswered: 0,
    };
    this.sent.push(posted);
    await this.sendUntilAnswered(posted, body);
    if (posted.acceptedAtMs !== null) this.count();
    return posted;
  }

  private async sendUntilAnswered(posted: Posted, body: string): Promise<void> {
    const { urls, path } = this.options;
    for (let tries = 0; this.refusals.length === 0; tries += 1) {
      const { status, text } = await this.try(`${urls[(posted.n + tries) % urls.length]}/in/${path}`, {}, body);
      if (status === '200') {
        posted.ids.push((JSON.parse(text) as { id: string }).id);
        posted.acceptedAtMs = Date.now();
        return;
      }
      if (/^[1-4]\d\d$/.test(status)) this.refusals.push(`${status} ${text}`);
      // After a 503, the outcome is unknown: an interrupted request may have been stored.
      posted.unanswered += 1;
      await sleep(AGAIN_MS);
    }
  }
}
