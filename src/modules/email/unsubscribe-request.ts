import { isRecord } from './draft-fields.js';

/** An unsubscribe link to add to an email. */
export interface UnsubscribeRequest {
  /** Id or key of the topic to unsubscribe from. Null to unsubscribe from all emails of the environment. */
  topic: string | null;
}

/** The fields and headers of an email that can request an unsubscribe link. */
export interface UnsubscribeFields {
  /** Value of the field `unsubscribe`. */
  unsubscribe: unknown;
  /** Value of the field `topic_id`, which the `resend` package sends. */
  topicId: unknown;
  /** Headers of the email. An email submitted over SMTP has only headers, no fields. */
  headers: Readonly<Record<string, string>>;
  /** Number of different recipients. */
  recipients: number;
}

export interface ReadUnsubscribe {
  /** Null if the email has no unsubscribe link. */
  unsubscribe: UnsubscribeRequest | null;
  /** The headers without those that request the unsubscribe link. */
  headers: Record<string, string>;
}

type AddFault = (path: string, message: string) => null;

/** Headers that request a link to unsubscribe from all emails or from one topic. They are removed before sending. */
const ALL_HEADER = 'x-unsubscribe';
const TOPIC_HEADER = 'x-unsubscribe-topic';
/** Headers of RFC 2369 and RFC 8058, which Posthorn sets in an email with an unsubscribe link. */
const OWN_HEADERS = /^list-unsubscribe(?:-post)?$/i;
const TOPIC_CHARACTERS_MAX = 64;

/**
 * Returns the requested unsubscribe link, and the remaining headers. Adds an error if a link is requested twice or both
 * requested and excluded, if the email has several recipients, or if it has its own List-Unsubscribe headers. Has no
 * other side effects.
 */
export function readUnsubscribe(
  { unsubscribe: field, topicId, headers, recipients }: UnsubscribeFields,
  fault: AddFault,
): ReadUnsubscribe {
  const requests = [
    { path: 'unsubscribe', request: field === undefined ? undefined : fromField(field, fault) },
    { path: 'topic_id', request: topicId === undefined ? undefined : ofTopic(topicId, 'topic_id', fault) },
    ...Object.entries(headers).map(([name, value]) => ({
      path: `headers.${name}`,
      request: fromHeader(name, value, fault),
    })),
  ].filter(({ request }) => request !== undefined);
  const [first, second] = requests;
  if (field === false && first !== undefined)
    fault('unsubscribe', `is false, but ${first.path} requests the unsubscribe link: omit one of the two`);
  if (second !== undefined)
    fault(second.path, 'requests the unsubscribe link a second time: request it in one field or header');
  const unsubscribe = first?.request ?? null;
  if (unsubscribe !== null) checkEmail(headers, recipients, fault);
  const kept = Object.entries(headers).filter(([name]) => !isRequestHeader(name));
  return { unsubscribe, headers: Object.fromEntries(kept) };
}

/** Returns whether a field or a header of the email requests or excludes an unsubscribe link. */
export function decidesUnsubscribe(email: Readonly<Record<string, unknown>>): boolean {
  const { headers } = email;
  return (
    ['unsubscribe', 'topic_id', 'topicId'].some((name) => (email[name] ?? null) !== null) ||
    (isRecord(headers) && Object.keys(headers).some(isRequestHeader))
  );
}

const isRequestHeader = (name: string): boolean => [ALL_HEADER, TOPIC_HEADER].includes(name.toLowerCase());

/** Returns the link that a field requests. Returns undefined for `false`, and null after an error. */
function fromField(value: unknown, fault: AddFault): UnsubscribeRequest | null | undefined {
  if (typeof value === 'boolean') return value ? { topic: null } : undefined;
  if (isRecord(value) && Object.keys(value).length === 1 && 'topic' in value)
    return ofTopic(value['topic'], 'unsubscribe.topic', fault);
  return fault('unsubscribe', 'must be true, or {"topic": "…"} with the id or the key of a topic');
}

/**
 * Returns the link that a header requests. Returns undefined if the header is for another purpose, and null after an
 * error.
 */
function fromHeader(name: string, value: string, fault: AddFault): UnsubscribeRequest | null | undefined {
  const lowerName = name.toLowerCase();
  if (lowerName === TOPIC_HEADER) return ofTopic(value.trim(), `headers.${name}`, fault);
  if (lowerName !== ALL_HEADER) return undefined;
  return value.trim().toLowerCase() === 'true'
    ? { topic: null }
    : fault(`headers.${name}`, 'has only the value true. For a topic, set the header X-Unsubscribe-Topic instead.');
}

function ofTopic(topic: unknown, path: string, fault: AddFault): UnsubscribeRequest | null {
  if (typeof topic === 'string' && topic !== '' && topic.length <= TOPIC_CHARACTERS_MAX) return { topic };
  return fault(path, 'must be the id or the key of a topic');
}

function checkEmail(headers: Readonly<Record<string, string>>, recipients: number, fault: AddFault): void {
  if (recipients !== 1)
    fault(
      'unsubscribe',
      'An email with an unsubscribe link has exactly one recipient, because the link belongs to that recipient. Send one email to each recipient, for example with POST /v1/emails/batch.',
    );
  const own = Object.keys(headers).find((name) => OWN_HEADERS.test(name));
  if (own !== undefined)
    fault(`headers.${own}`, 'The service sets this header itself in an email with an unsubscribe link.');
}
