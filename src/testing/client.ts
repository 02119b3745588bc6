import { setTimeout as sleep } from 'node:timers/promises';

export interface ApiAnswer {
  status: number;
  /** Parsed body; null if the body is not JSON. */
  json: Record<string, unknown> | null;
  text: string;
}

export interface Access {
  url: string;
  apiKey: string;
}

const EVERY_MS = 50;
const WITHIN_MS = 20_000;

/** API client for tests. A string body is sent unchanged. */
export class Client {
  constructor(private readonly access: Access) {}

  async call(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const response = await fetch(this.access.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.access.apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: parse(text), text };
  }

  /** Calls the API. Rejects with the actual response if its status differs from `status`. */
  async expect(status: number, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await this.call(method, path, body);
    if (answer.status !== status)
      throw new Error(`${method} ${path} answered ${answer.status} instead of ${status}: ${answer.text}`);
    return answer.json ?? {};
  }
}

/** Polls `read` until its result is as expected and returns it. Rejects with the last result after a timeout. */
export async function until<T>(
  read: () => Promise<T>,
  isExpected: (value: T) => boolean,
  withinMs = WITHIN_MS,
): Promise<T> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (isExpected(value)) return value;
    if (performance.now() > deadlineMs)
      throw new Error(`Not as expected within ${withinMs} ms: ${JSON.stringify(value)}`);
    await sleep(EVERY_MS);
  }
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
