import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sent } from './checker.js';

/** The result of one attempt: an HTTP status, or the error code of a broken connection. */
export interface Answer {
  status: string;
  text: string;
  headers: http.IncomingHttpHeaders;
}

export const AGAIN_MS = 50;
const TRY_MS_MAX = 10_000;

/** A sender that retries each message until it is accepted. */
export abstract class Sender {
  abstract readonly sent: readonly Sent[];
  /** Number of attempts by HTTP status or error code. */
  readonly outcomes: Record<string, number> = {};
  /** API responses that are not valid for any attempt, with their bodies. */
  readonly refusals: string[] = [];
  accepted = 0;
  private readonly agent = new http.Agent({ keepAlive: true });
  private readonly milestones: { accepted: number; reached: () => void }[] = [];
  private stopping = false;
  private running: Promise<void>[] = [];

  /** `concurrency` is the number of concurrent messages. `pace` multiplies the timeout of an attempt. */
  constructor(
    private readonly concurrency: number,
    private readonly pace: () => number = () => 1,
  ) {}

  /** Sends one message until it is accepted. */
  abstract send(): Promise<Sent>;

  start(): void {
    this.running = Array.from({ length: this.concurrency }, (_, i) => this.run(i));
  }

  /** Resolves when sending has ended. Sending ends early only if the service rejects a message. */
  async ended(): Promise<void> {
    await Promise.all(this.running);
  }

  /** Starts no more messages. Resolves once all messages in flight are accepted. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.ended();
    this.agent.destroy();
  }

  /** Abandons all messages at the end of a test that may have failed. */
  abandon(): void {
    this.stopping = true;
    this.refusals.push('It was abandoned.');
    this.agent.destroy();
  }

  async reached(accepted: number): Promise<void> {
    if (this.accepted >= accepted) return;
    await new Promise<void>((reached) => this.milestones.push({ accepted, reached }));
  }

  protected count(): void {
    this.accepted += 1;
    for (const { accepted, reached } of this.milestones) if (accepted === this.accepted) reached();
  }

  protected async try(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Answer> {
    const answer = await this.post(url, headers, body);
    this.outcomes[answer.status] = (this.outcomes[answer.status] ?? 0) + 1;
    return answer;
  }

  private async run(delayMs: number): Promise<void> {
    // Staggers the senders, so that a kill finds them in different states.
    await sleep(delayMs);
    while (!this.stopping && this.refusals.length === 0) await this.send();
  }

  private post(url: string, given: Readonly<Record<string, string>>, body: string): Promise<Answer> {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...given };
    return new Promise((resolve) => {
      const request = http.request(
        url,
        { method: 'POST', agent: this.agent, headers, timeout: TRY_MS_MAX * this.pace() },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () => resolve({ status: String(response.statusCode), text, headers: response.headers }));
          response.on('error', () => resolve(noAnswer('cut')));
          response.on('close', () => resolve(noAnswer('cut')));
        },
      );
      request.on('timeout', () => request.destroy());
      request.on('error', (error: NodeJS.ErrnoException) => resolve(noAnswer(error.code ?? 'broken')));
      request.end(body);
    });
  }
}

const noAnswer = (status: string): Answer => ({ status, text: '', headers: {} });
