import { excerptOf } from '#engine/excerpt.js';
import type { SynchronousAnswer } from '#engine/inbound/request.js';
import type { StoredAnswer } from '#kernel/idempotency.js';
import { type Id, showId } from '#kernel/ids.js';

/** Headers of the default response. A response whose headers are this object is the default response. */
export const RECEIVED_HEADERS: Record<string, string> = Object.freeze({
  'content-type': 'application/json; charset=utf-8',
});

const PARKED_HEADER = 'posthorn-parked';

/** The stored parts of a response. An empty object represents the default response. */
export type KeptAnswerParts = { status?: number; headers?: Record<string, string>; body?: string; truncated?: true };

/** A response as the API shows it. `body` is null if it was erased, or was the standard error body for the status. */
export interface ShownAnswer {
  status: number;
  headers: Record<string, string>;
  body: string | null;
  truncated: boolean;
}

/** Response to a request, stored for its duplicates. Omitted parts are those of the default response. */
interface FirstAnswer {
  id: Id;
  headers?: Record<string, string>;
  body?: string;
}

const DEFAULT = '{}';
const REFUSED = '{"status":401}';
/** Stored form of the response to a body that was too large. */
export const TOO_LARGE = '{"status":413}';

/** Returns the default response. `parked` is the reason why the event was parked. */
export function received200(id: Id, parked?: string): SynchronousAnswer {
  const more = parked === undefined ? '' : `,"parked":${JSON.stringify(parked)}`;
  return { status: 200, headers: RECEIVED_HEADERS, body: `{"received":true,"id":"${showId('evt', id)}"${more}}` };
}

export function parkedAnswer(answer: SynchronousAnswer, id: Id, note: string): SynchronousAnswer {
  return answer.headers === RECEIVED_HEADERS
    ? received200(id, note)
    : { ...answer, headers: { ...answer.headers, [PARKED_HEADER]: note } };
}

/**
 * Returns the response that duplicates of a request get: the request's own response if it was 2xx, otherwise the
 * default response. The request is stored, so the provider must not resend it again.
 */
export function keptForDuplicates(answer: SynchronousAnswer | 'refused' | 'unavailable', id: Id): StoredAnswer {
  const isRepeated = typeof answer !== 'string' && answer.status < 300;
  const { status, headers, body } = isRepeated ? answer : received200(id);
  const kept: FirstAnswer = {
    id,
    ...(headers !== RECEIVED_HEADERS && { headers }),
    ...(body !== received200(id).body && { body }),
  };
  return { status, body: JSON.stringify(kept) };
}

export function firstAnswer({ status, body }: StoredAnswer): { eventId: Id; answer: SynchronousAnswer } {
  const kept = JSON.parse(body) as FirstAnswer;
  return {
    eventId: kept.id,
    answer: { status, headers: kept.headers ?? RECEIVED_HEADERS, body: kept.body ?? received200(kept.id).body },
  };
}

/**
 * Returns the JSON to store for a response. It is almost empty for the default response, which is the most frequent
 * one.
 */
export function keptAnswer(answer: SynchronousAnswer | 'refused', id: Id): string {
  if (answer === 'refused') return REFUSED;
  const { status, headers, body } = answer;
  if (headers === RECEIVED_HEADERS && body === received200(id).body) return DEFAULT;
  const excerpt = excerptOf(Buffer.from(body));
  const kept: KeptAnswerParts = {
    status,
    headers,
    body: excerpt,
    ...(excerpt.length < body.length && { truncated: true as const }),
  };
  return JSON.stringify(kept);
}

/** Returns the response to show, or `null` if there was none or it was not recorded. */
export function shownAnswer(kept: KeptAnswerParts | null, id: Id): ShownAnswer | null {
  if (kept === null) return null;
  if (kept.status === undefined) return { ...received200(id), truncated: false };
  return {
    status: kept.status,
    headers: kept.headers ?? {},
    body: kept.body ?? null,
    truncated: kept.truncated ?? false,
  };
}
