import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sent } from './checker.js';
import { type Application, type Fleet, type Listener, traitsOf } from './fan-out-fleet.js';
import { isFinal } from './load.js';
import { hashOf, meaningOf, payloadOf } from './payload.js';
import { Seeded } from './random.js';
import { AGAIN_MS, type Answer, Sender } from './sender.js';

/** The emitter's targets, and its concurrency. */
export interface EmitterOptions {
  /** Addresses of the API. After a failed attempt the emitter continues with the next one. */
  urls: readonly string[];
  apiKey: string;
  fleet: Fleet;
  seed: number;
  concurrency: number;
}

/** An event that the emitter sends to an application, with the answers of the API. */
export interface Emission extends Sent {
  n: number;
  /** Path of the request that emits the event. Every attempt sends the same request. */
  path: string;
  body: string;
  payload: string;
  /** Digest of the parsed payload. A pull consumer can compute the same digest. */
  meaning: string;
  /** True if the request has an Idempotency-Key. Without a key, every attempt may create a message. */
  isKeyed: boolean;
  /** Number of attempts without a 202. Any of these attempts may have stored a message with an unknown id. */
  unanswered: number;
  /** The endpoints that must receive the event. */
  listeners: readonly Listener[];
  /** The `fanout` values of all answers. */
  fanouts: number[];
}

/**
 * Shares of the requests: without an idempotency key, with a key and sent twice concurrently, with a key and repeated
 * later.
 */
const KEYLESS_SHARE = 0.4;
const TWIN_SHARE = 0.03;
const REPEATED_SHARE = 0.03;
/** Share of the requests whose application uid does not exist yet. Such a request creates the application. */
const STRANGER_SHARE = 0.02;

/** Emits events to the applications of a fleet, and retries each event until it gets a 202. */
export class Emitter extends Sender {
  readonly sent: Emission[] = [];
  private readonly random: Seeded;

  constructor(private readonly options: EmitterOptions) {
    super(options.concurrency);
    this.random = new Seeded(options.seed);
  }

  async send(): Promise<Emission> {
    const n = this.sent.length;
    const payload = payloadOf(n, this.random);
    const traits = traitsOf(n, this.random);
    const stranger: Application = { reference: `stranger-${this.options.seed}-${n}`, listeners: [] };
    const to = this.random.next() < STRANGER_SHARE ? stranger : this.random.pick(this.options.fleet.applications);
    const isKeyed = this.random.next() >= KEYLESS_SHARE;
    const { eventType, channels, isGold } = traits;
    const headers = isGold ? '"headers":{"X-Tier":"gold"},' : '';
    const emission: Emission = {
      n,
      path: `/v1/app/${to.reference}/event`,
      payload,
      body: `{"event_type":"${eventType}", "channels":${JSON.stringify(channels)},${headers}"payload":${payload}}`,
      key: isKeyed ? randomUUID() : `emission ${n}`,
      isKeyed,
      bodyHash: hashOf(payload),
      meaning: meaningOf(JSON.parse(payload)),
      ids: [],
      acceptedAtMs: null,
      unanswered: 0,
      listeners: to.listeners.filter(({ takes }) => takes(traits)),
      fanouts: [],
    };
    this.sent.push(emission);
    await this.sendUntilAccepted(emission);
    if (emission.acceptedAtMs !== null) this.count();
    return emission;
  }

  private async sendUntilAccepted(emission: Emission): Promise<void> {
    const share = emission.isKeyed ? this.random.next() : 0.5;
    const first = share < TWIN_SHARE ? [0, 1] : [0];
    await Promise.all(first.map((at) => this.persist(emission, at)));
    if (share > 1 - REPEATED_SHARE) await this.persist(emission, 1);
  }

  private async persist(emission: Emission, firstUrl: number): Promise<void> {
    const { urls, apiKey } = this.options;
    const given = { authorization: `Bearer ${apiKey}`, ...(emission.isKeyed && { 'idempotency-key': emission.key }) };
    for (let tries = 0; this.refusals.length === 0; tries += 1) {
      const answer = await this.try(
        `${urls[(emission.n + firstUrl + tries) % urls.length]}${emission.path}`,
        given,
        emission.body,
      );
      if (answer.status === '202') {
        note(emission, answer);
        return;
      }
      if (isFinal(answer.status, answer.text)) this.refusals.push(`${answer.status} ${answer.text}`);
      emission.unanswered += 1;
      await sleep(AGAIN_MS);
    }
  }
}

/** Records the contents of a 202 answer. */
function note(emission: Emission, { text }: Answer): void {
  const { message_id: id, fanout } = JSON.parse(text) as { message_id: string; fanout: number };
  if (!emission.ids.includes(id)) emission.ids.push(id);
  emission.fanouts.push(fanout);
  emission.acceptedAtMs ??= Date.now();
}
