import { createHash, randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sent } from './checker.js';
import { Seeded } from './random.js';

/** Where the load goes, and how much of it at a time. */
export interface LoadOptions {
  /** Addresses of the API; a try that fails goes on at the next one. */
  urls: readonly string[];
  apiKey: string;
  destinations: readonly string[];
  seed: number;
  /** Requests at once. */
  lanes: number;
}

const TRY_MS_MAX = 10_000;
const AGAIN_MS = 50;
/** Sends that are repeated with the same key although they were answered, and sends that are made twice at once. */
const REPEATED_SHARE = 0.02;
const TWIN_SHARE = 0.02;
const LARGE_SHARE = 0.005;
const LARGE_CHARACTERS = 60_000;
const SMALL_CHARACTERS_MAX = 600;
/** Characters that a service which parses and prints again would change. */
const EXOTIC = ['é', '漢', '🐎', '\u2028', '\\u0000', '\\/', '\\u00e9', '\\"', '\u007f', ' ', '\\ud83d\\ude00', '</script>', '%', '\\\\'];

/** A sender that never gives up: every message is sent under its own key until the answer is 202. */
export class Load {
  readonly sent: Sent[] = [];
  /** Answers by status, and failures by their code: what happened to single tries. */
  readonly outcomes: Record<string, number> = {};
  /** Answers that no try should get, with their body. */
  readonly refusals: string[] = [];
  accepted = 0;
  /** Messages that were accepted by a try whose answer never came: the next try was told so. */
  cutAnswers = 0;
  private readonly random: Seeded;
  private readonly agent = new http.Agent({ keepAlive: true });
  private readonly milestones: { accepted: number; reached: () => void }[] = [];
  private stopping = false;
  private lanes: Promise<void>[] = [];

  constructor(private readonly options: LoadOptions) {
    this.random = new Seeded(options.seed);
  }

  start(): void {
    this.lanes = Array.from({ length: this.options.lanes }, (_, lane) => this.run(lane));
  }

  /** Resolves when nothing is sent any more, which is early only when the service refused something. */
  async ended(): Promise<void> {
    await Promise.all(this.lanes);
  }

  /** Begins no more messages; resolves once those that were begun are accepted. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.ended();
    this.agent.destroy();
  }

  /** Resolves once so many messages are accepted. */
  async reached(accepted: number): Promise<void> {
    if (this.accepted >= accepted) return;
    await new Promise<void>((reached) => this.milestones.push({ accepted, reached }));
  }

  /** Sends one message until it is accepted. */
  async send(): Promise<Sent> {
    const n = this.sent.length;
    const payload = payloadOf(n, this.random);
    const message: Sent = { key: randomUUID(), bodyHash: createHash('sha256').update(payload).digest('hex'), ids: [], acceptedAtMs: null };
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
    if (message.acceptedAtMs === null) return message;
    this.accepted += 1;
    for (const { accepted, reached } of this.milestones) if (accepted === this.accepted) reached();
    return message;
  }

  private async run(lane: number): Promise<void> {
    // A lane starts when the one before it has been answered, so that no kill finds all of them in step.
    await sleep(lane);
    while (!this.stopping && this.refusals.length === 0) await this.send();
  }

  /** Whether the answer was one that an earlier try had earned. */
  private async sendUntilAccepted(message: Sent, body: string, firstUrl: number): Promise<boolean> {
    for (let tries = 0; this.refusals.length === 0; tries += 1) {
      const url = this.options.urls[(firstUrl + tries) % this.options.urls.length] as string;
      const { status, text, isReplayed } = await this.post(`${url}/v1/send`, message.key, body);
      this.outcomes[status] = (this.outcomes[status] ?? 0) + 1;
      if (status === '202') {
        note(message, text);
        return isReplayed;
      }
      if (isFinal(status, text)) this.refusals.push(`${status} ${text}`);
      else await sleep(AGAIN_MS);
    }
    return false;
  }

  private post(url: string, key: string, body: string): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.options.apiKey}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'idempotency-key': key,
    };
    return new Promise((resolve) => {
      const request = http.request(url, { method: 'POST', agent: this.agent, headers, timeout: TRY_MS_MAX }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        const isReplayed = response.headers['idempotent-replayed'] === 'true';
        response.on('end', () => resolve({ status: String(response.statusCode), text, isReplayed }));
        response.on('error', () => resolve(noAnswer('cut')));
        response.on('close', () => resolve(noAnswer('cut')));
      });
      request.on('timeout', () => request.destroy());
      request.on('error', (error: NodeJS.ErrnoException) => resolve(noAnswer(error.code ?? 'broken')));
      request.end(body);
    });
  }
}

/** What came of one try: an HTTP status, or the code of what broke the connection. */
interface Answer {
  status: string;
  text: string;
  isReplayed: boolean;
}

const noAnswer = (status: string): Answer => ({ status, text: '', isReplayed: false });

/** Writes down the id that a 202 gave. */
function note(message: Sent, text: string): void {
  const { message_id: id } = JSON.parse(text) as { message_id: string };
  if (!message.ids.includes(id)) message.ids.push(id);
  message.acceptedAtMs ??= Date.now();
}

/** Whether the service says no for good. 503 and a request that still runs ask for another try. */
function isFinal(status: string, text: string): boolean {
  if (status === '409') return !text.includes('in_flight');
  return /^[1-4]\d\d$/.test(status);
}

/** Numbers that lose their digits in a double, escapes that need none, white space: it must arrive as it is. */
function payloadOf(n: number, random: Seeded): string {
  const length = random.next() < LARGE_SHARE ? LARGE_CHARACTERS : random.between(0, SMALL_CHARACTERS_MAX);
  const pad = random.pick(EXOTIC) + 'x'.repeat(length) + random.pick(EXOTIC);
  return `{"n":${n},"pad":"${pad}" , "big":12345678901234567890, "small":1.10e-7,\n\t"n2":-0 }`;
}
