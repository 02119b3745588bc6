import { randomBytes, randomUUID } from 'node:crypto';
import http from 'node:http';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { expectStatus } from './scene.js';

/** A provider's request; by default an empty POST. */
export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

/** An inbound endpoint that a test created. */
export interface Inbound {
  readonly id: string;
  /** Path with the organization's slug. */
  readonly path: string;
  /** Path of the receive URL. */
  readonly at: string;
}

/** A JSON object returned by the API. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
export type Json = any;

/** Sends one request exactly as given, without normalizing its path or adding a content type. */
export function provide(
  server: PosthornServer,
  path: string,
  { method = 'POST', headers = {}, body }: Sent = {},
): Promise<ApiAnswer> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const request = http.request(
      { hostname, port, path, method, headers: { ...length, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve(answerOf(response, Buffer.concat(chunks).toString())));
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** Returns a JSON request as most providers send it. */
export function json(value: unknown, headers: Record<string, string> = {}): Sent {
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/** Creates an inbound endpoint at a unique path. */
export async function inbound(server: PosthornServer, settings: object = {}): Promise<Inbound> {
  const body = { ...('path' in settings || 'url' in settings ? {} : { slug: randomUUID() }), ...settings };
  const { id, path } = expectStatus(await server.api('POST', '/v1/endpoints', body), 201).json;
  return { id, path, at: `/in/${path}` };
}

export async function setSecret(
  server: PosthornServer,
  { id }: Inbound,
  secret: string,
  more: object = {},
): Promise<void> {
  expectStatus(await server.api('PUT', `/v1/endpoints/${id}/secret`, { secret, ...more }), 204);
}

export async function change(server: PosthornServer, { id }: Inbound, changes: object): Promise<void> {
  expectStatus(await server.api('PATCH', `/v1/endpoints/${id}`, changes), 200);
}

/** Sends a request, expects 200 with the default response, and returns the event id. */
export async function accepted(server: PosthornServer, { at }: Inbound, sent: Sent = {}): Promise<string> {
  const { json: answer } = expectStatus(await provide(server, at, sent), 200);
  expect(answer).toEqual({ received: true, id: expect.stringMatching(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/) });
  return answer.id as string;
}

/** Returns the requests that an endpoint received, newest first. */
export async function requestsOf(server: PosthornServer, { id }: Inbound): Promise<Json[]> {
  return expectStatus(await server.api('GET', `/v1/endpoints/${id}/requests`), 200).json.data as Json[];
}

/** Returns one raw request by its `req_` id or the `evt_` id of its event. */
export async function requestOf(
  server: PosthornServer,
  { id }: Inbound,
  request: string,
  headers: Record<string, string> = {},
): Promise<Json> {
  return expectStatus(await server.api('GET', `/v1/endpoints/${id}/requests/${request}`, undefined, headers), 200).json;
}

/** Returns a new secret in the format of Standard Webhooks. */
export function whsec(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

function answerOf(response: http.IncomingMessage, text: string): ApiAnswer {
  const headers = new Headers();
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2)
    headers.append(response.rawHeaders[i] as string, response.rawHeaders[i + 1] as string);
  return { status: response.statusCode ?? 0, headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
