import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Header names are in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  /** Time when the request's last byte arrived. */
  readonly at: Date;
}

/** The answer to a request. Default: 200 with an empty body. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Delay before the first byte. */
  readonly delayMs?: number;
  /** If true, the receiver accepts the request and never answers. */
  readonly hang?: boolean;
  /** If true, the receiver closes the connection instead of answering. */
  readonly reset?: boolean;
}

/** Returns the answer to a request. `index` counts from 0. */
export type AnswerRequest = (request: ReceivedRequest, index: number) => Answer | Promise<Answer>;

/** An HTTP server on 127.0.0.1 that records its requests. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** Every request so far, in the order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** Sets one answer per later request. The last answer is used for all further requests. */
  answerWith(...answers: Answer[]): void;
  /**
   * Resolves with all requests once `count` have arrived. Rejects after `timeoutMs`, with a list of the requests that
   * arrived.
   */
  waitFor(count: number, timeoutMs?: number): Promise<readonly ReceivedRequest[]>;
  /** Closes every connection, including hanging ones. */
  close(): Promise<void>;
}

interface Waiter {
  readonly count: number;
  readonly resolve: () => void;
}

/** Starts a receiver. Without `handler` it answers 200 until `answerWith` is called. */
export async function startReceiver(handler: AnswerRequest = () => ({})): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const waiters = new Set<Waiter>();
  let decide = handler;
  const server = createServer((incoming, response) => {
    void readRequest(incoming).then(
      async (request) => {
        const index = requests.push(request) - 1;
        for (const waiter of waiters) if (requests.length >= waiter.count) waiter.resolve();
        send(response, await decide(request, index));
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    answerWith(...answers) {
      const first = requests.length;
      decide = (_request, index) => answers[Math.min(index - first, answers.length - 1)] ?? {};
    },
    waitFor: (count, timeoutMs = 10_000) => waitFor(requests, waiters, count, timeoutMs),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    rawBody: Buffer.concat(chunks),
    at: new Date(),
  };
}

function send(response: ServerResponse, answer: Answer): void {
  if (answer.hang) return;
  if (answer.reset) {
    response.destroy();
    return;
  }
  const timer = setTimeout(() => {
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
  }, answer.delayMs ?? 0);
  response.once('close', () => clearTimeout(timer));
}

async function waitFor(
  requests: readonly ReceivedRequest[],
  waiters: Set<Waiter>,
  count: number,
  timeoutMs: number,
): Promise<readonly ReceivedRequest[]> {
  if (requests.length >= count) return requests;
  await new Promise<void>((resolve, reject) => {
    const waiter: Waiter = {
      count,
      resolve: () => {
        clearTimeout(timer);
        waiters.delete(waiter);
        resolve();
      },
    };
    const timer = setTimeout(() => {
      waiters.delete(waiter);
      const seen = requests.map(({ method, path }) => `${method} ${path}`).join(', ') || 'nothing';
      reject(new Error(`Only ${requests.length} of ${count} requests arrived within ${timeoutMs} ms: ${seen}.`));
    }, timeoutMs);
    waiters.add(waiter);
  });
  return requests;
}
