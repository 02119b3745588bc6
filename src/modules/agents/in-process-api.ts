import { setTimeout as after } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { writeExact } from '#engine/exact-json.js';
import { answerBytes, partOf } from '#modules/agents/answer-size.contract.js';
import type { ApiObject, ApiPath, ApiQuery, ApiWriter, TextPart } from '#modules/agents/contract.js';

/**
 * Maximum size in bytes of a list page in an answer. The rest of `ANSWER_BYTES_MAX` is for fields that the tool adds.
 */
const PAGE_BYTES_MAX = 23_000;
const WAIT_SECONDS_MAX = 25;
const LOOK_EVERY_MS = 1_000;

export interface CallOrigin {
  authorization: string;
  /** IP address of the client, for quotas and the audit log. */
  address: string;
  host: string;
  userAgent: string;
}

/** Thrown for a request that the API rejected. `error` is the `error` object of the API's response. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly status: number,
    readonly error: { type: string; message: string; details: ApiObject },
    readonly retryAfter: string | undefined,
  ) {
    super(error.message);
  }
}

/**
 * Calls the API without a network connection, with the caller's own key and through the same hooks as external
 * requests. Validation, quotas, scopes, tenancy and the audit log apply unchanged.
 */
export class InProcessApi implements ApiWriter {
  constructor(
    private readonly fastify: FastifyInstance,
    private readonly callOrigin: CallOrigin,
    private readonly signal: AbortSignal,
  ) {}

  get(path: ApiPath, query: ApiQuery = {}): Promise<ApiObject> {
    return this.request('GET', path, query);
  }

  async page(path: ApiPath, query: ApiQuery): Promise<ApiObject> {
    for (let limit = Number(query['limit']); ; limit = Math.floor(limit / 2)) {
      const found = await this.get(path, { ...query, limit });
      // A page with a single item cannot be made smaller here. If the item is too large, the tool itself shortens it.
      if (limit <= 1 || answerBytes(found) <= PAGE_BYTES_MAX) return found;
    }
  }

  async text(path: ApiPath, offset: number, charactersMax: number): Promise<TextPart> {
    const { body, contentType } = await this.exchange('GET', path.text);
    const text = decoded(body);
    const part = text === null ? { text, nextOffset: null } : partOf(text, offset, charactersMax);
    return { ...part, contentType, sizeBytes: body.length };
  }

  async until<T>(seconds: number, look: () => Promise<T | null>): Promise<T | null> {
    const untilMs = performance.now() + Math.min(seconds, WAIT_SECONDS_MAX) * 1000;
    for (;;) {
      const found = await look();
      const leftMs = untilMs - performance.now();
      if (found !== null || leftMs <= 0) return found;
      await after(Math.min(LOOK_EVERY_MS, leftMs), undefined, { signal: this.signal });
    }
  }

  post(path: ApiPath, body: ApiObject | undefined, idempotencyKey: string | undefined): Promise<ApiObject> {
    return this.request('POST', path, {}, body, idempotencyKey);
  }

  private async request(
    method: 'GET' | 'POST',
    path: ApiPath,
    query: ApiQuery,
    body?: ApiObject,
    idempotencyKey?: string,
  ): Promise<ApiObject> {
    const given = Object.entries(query)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]);
    const search = new URLSearchParams(given).toString();
    const answer = await this.exchange(
      method,
      search === '' ? path.text : `${path.text}?${search}`,
      body,
      idempotencyKey,
    );
    return answer.body.length === 0 ? {} : (JSON.parse(answer.body.toString('utf8')) as ApiObject);
  }

  private async exchange(
    method: 'GET' | 'POST',
    url: string,
    body?: ApiObject,
    idempotencyKey?: string,
  ): Promise<{ body: Buffer; contentType: string }> {
    this.signal.throwIfAborted();
    const { authorization, address, host, userAgent } = this.callOrigin;
    const answer = await this.fastify.inject({
      method,
      url,
      remoteAddress: address,
      headers: {
        authorization,
        host,
        'user-agent': userAgent,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { payload: writeExact(body) }),
    });
    if (answer.statusCode >= 300) throw refusedWith(answer.statusCode, answer.payload, answer.headers['retry-after']);
    return { body: answer.rawPayload, contentType: String(answer.headers['content-type'] ?? '') };
  }
}

function refusedWith(status: number, payload: string, retryAfter: number | string | string[] | undefined): Refused {
  const { error } = JSON.parse(payload) as { error: Refused['error'] };
  return new Refused(status, error, retryAfter === undefined ? undefined : String(retryAfter));
}

/** Decodes UTF-8. Returns `null` for other bytes. */
function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
