import { excerptOf } from '#engine/excerpt.js';
import type { SynchronousAnswer } from '#engine/inbound/request.js';
import type { StoredAnswer } from '#kernel/idempotency.js';
import { type Id, showId } from '#kernel/ids.js';

/** Of the default answer, and of no other. */
export const RECEIVED_HEADERS: Record<string, string> = Object.freeze({
  'content-type': 'application/json; charset=utf-8',
});

/** Beside an answer of the endpoint's own: why the event was set aside. */
const PARKED_HEADER = 'posthorn-parked';

/** What is kept of an answer; an empty one is the default answer to the event. */
export type KeptAnswerParts = { status?: number; headers?: Record<string, string>; body?: string; truncated?: true };

/** An answer as it is shown; `body` is null where it was the error envelope of that status, or was erased. */
export interface ShownAnswer {
  status: number;
  headers: Record<string, string>;
  body: string | null;
  truncated: boolean;
}

/** An answer with the event that it was given to; what is left out is as in the default answer. */
interface FirstAnswer {
  id: Id;
  headers?: Record<string, string>;
  body?: string;
}

const DEFAULT = '{}';
const REFUSED = '{"status":401}';

/** The default answer; `parked` says why the event was set aside. */
export function received200(id: Id, parked?: string): SynchronousAnswer {
  const more = parked === undefined ? '' : `,"parked":${JSON.stringify(parked)}`;
  return { status: 200, headers: RECEIVED_HEADERS, body: `{"received":true,"id":"${showId('evt', id)}"${more}}` };
}

/** The answer to an event that is set aside although it was answered: it says so. */
export function parkedAnswer(answer: SynchronousAnswer, id: Id, note: string): SynchronousAnswer {
  return answer.headers === RECEIVED_HEADERS
    ? received200(id, note)
    : { ...answer, headers: { ...answer.headers, [PARKED_HEADER]: note } };
}

/**
 * What is kept of the first answer for requests that repeat it: all of it. One that is no 2xx is not repeated: the event is here, and
 * whoever sends it again is told so.
 */
export function keptForRepeats(answer: SynchronousAnswer | 'refused' | 'unavailable', id: Id): StoredAnswer {
  const isRepeated = typeof answer !== 'string' && answer.status < 300;
  const { status, headers, body } = isRepeated ? answer : received200(id);
  const kept: FirstAnswer = {
    id,
    ...(headers !== RECEIVED_HEADERS && { headers }),
    ...(body !== received200(id).body && { body }),
  };
  return { status, body: JSON.stringify(kept) };
}

/** The first answer, and the event that it was an answer to. */
export function firstAnswer({ status, body }: StoredAnswer): { eventId: Id; answer: SynchronousAnswer } {
  const kept = JSON.parse(body) as FirstAnswer;
  return {
    eventId: kept.id,
    answer: { status, headers: kept.headers ?? RECEIVED_HEADERS, body: kept.body ?? received200(kept.id).body },
  };
}

/** What is kept of it, as JSON: next to nothing for the default one, which most events get. */
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

/** What the provider was answered; null where nobody was, or nobody noted it. */
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
