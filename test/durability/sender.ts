import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sent } from './checker.js';

/** What came of one try: an HTTP status, or the code of what broke the connection. */
export interface Answer {
  status: string;
  text: string;
  headers: http.IncomingHttpHeaders;
}

export const AGAIN_MS = 50;
const TRY_MS_MAX = 10_000;

/** Senders that never give up: each message is sent again until its answer says that it was accepted. */
export abstract class Sender {
  abstract readonly sent: readonly Sent[];
  /** Answers by status, and failures by their code: what happened to single tries. */
  readonly outcomes: Record<string, number> = {};
  /** Answers that no try should get, with their body. */
  readonly refusals: string[] = [];
  accepted = 0;
  private readonly agent = new http.Agent({ keepAlive: true });
  private readonly milestones: { accepted: number; reached: () => void }[] = [];
  private stopping = false;
  private running: Promise<void>[] = [];

  /** `lanes` messages are on their way at once; `pace` multiplies the time for a try. */
  constructor(
    private readonly lanes: number,
    private readonly pace: () => number = () => 1,
  ) {}

  /** Sends one message until it is accepted. */
  abstract send(): Promise<Sent>;

  start(): void {
    this.running = Array.from({ length: this.lanes }, (_, lane) => this.run(lane));
  }

  /** Resolves when nothing is sent any more, which is early only when the service refused something. */
  async ended(): Promise<void> {
    await Promise.all(this.running);
  }

  /** Begins no more messages; resolves once those that were begun are accepted. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.ended();
    this.agent.destroy();
  }

  /** Gives up on everything: for the end of a test that may have failed. */
  abandon(): void {
    this.stopping = true;
    this.refusals.push('It was abandoned.');
    this.agent.destroy();
  }

  /** Resolves once so many messages are accepted. */
  async reached(accepted: number): Promise<void> {
    if (this.accepted >= accepted) return;
    await new Promise<void>((reached) => this.milestones.push({ accepted, reached }));
  }

  /** Counts a message that was accepted. */
  protected count(): void {
    this.accepted += 1;
    for (const { accepted, reached } of this.milestones) if (accepted === this.accepted) reached();
  }

  /** One try, noted in `outcomes`. */
  protected async try(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Answer> {
    const answer = await this.post(url, headers, body);
    this.outcomes[answer.status] = (this.outcomes[answer.status] ?? 0) + 1;
    return answer;
  }

  private async run(lane: number): Promise<void> {
    // A lane starts when the one before it has been answered, so that no kill finds all of them in step.
    await sleep(lane);
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
