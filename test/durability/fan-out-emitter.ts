import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sent } from './checker.js';
import { type Application, type Fleet, type Listener, traitsOf } from './fan-out-fleet.js';
import { isFinal } from './load.js';
import { hashOf, meaningOf, payloadOf } from './payload.js';
import { Seeded } from './random.js';
import { AGAIN_MS, type Answer, Sender } from './sender.js';

/** Where the emitter calls, and how much of it at a time. */
export interface EmitterOptions {
  /** Addresses of the API; a try that fails goes on at the next one. */
  urls: readonly string[];
  apiKey: string;
  fleet: Fleet;
  seed: number;
  lanes: number;
}

/** One emission as its sender knows it. */
export interface Emission extends Sent {
  n: number;
  /** Its request, as it is made again and again. */
  path: string;
  body: string;
  payload: string;
  /** Of the payload's value: what a consumer that pulls can compare. */
  meaning: string;
  /** Without an Idempotency-Key, every try may make a message. */
  isKeyed: boolean;
  /** Tries that were not answered 202: each may have been stored under an id that nobody was told. */
  unanswered: number;
  /** The endpoints that it must go to. */
  listeners: readonly Listener[];
  /** Every `fanout` that was answered. */
  fanouts: number[];
}

/** A part has no key; of those with one a part is sent twice at once, and a part again after its answer. */
const KEYLESS_SHARE = 0.4;
const TWIN_SHARE = 0.03;
const REPEATED_SHARE = 0.03;
/** To a uid that nobody knows yet: the call makes the application, and the event goes nowhere. */
const STRANGER_SHARE = 0.02;

/** Emits events to the applications of a fleet, each until it is answered 202. */
export class Emitter extends Sender {
  readonly sent: Emission[] = [];
  private readonly random: Seeded;

  constructor(private readonly options: EmitterOptions) {
    super(options.lanes);
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

/** Writes down what a 202 said. */
function note(emission: Emission, { text }: Answer): void {
  const { message_id: id, fanout } = JSON.parse(text) as { message_id: string; fanout: number };
  if (!emission.ids.includes(id)) emission.ids.push(id);
  emission.fanouts.push(fanout);
  emission.acceptedAtMs ??= Date.now();
}
