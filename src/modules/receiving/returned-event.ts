import { forwardedHeaderFaults } from '#engine/headers.js';
import { HOPS_HEADER } from '#engine/inbound/forward.js';
import type { GuestRequest } from './guest-request.js';
import type { HeaderChanges, TransformResult } from './url-transforms.js';

const EVENT_TYPE = /^[A-Za-z0-9._:/-]{1,256}$/;
const CONTENT_TYPE = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/;

/** Builds the event that code returned. Keeps the exact text of an unchanged body, because code may round numbers. */
export function returnedEvent(value: unknown, given: GuestRequest & { event_type: string }): TransformResult {
  if (typeof value !== 'object' || value === null || !('body' in value)) return failed('what it returned has no body');
  const {
    body,
    event_type: eventType,
    headers = given.headers,
  } = value as { body: unknown; event_type?: unknown; headers?: unknown };
  if (eventType !== undefined && (typeof eventType !== 'string' || !EVENT_TYPE.test(eventType)))
    return failed('the event_type it returned is none');
  const text = typeof body === 'string' ? Buffer.from(body).toString() : JSON.stringify(body);
  if (text.includes('\0')) return failed('the body it returned contains U+0000');
  if (!isHeaders(headers)) return failed('the headers it returned are no object of texts');
  const changes = headerChanges(headers, given.headers);
  const refused = refusedHeader(changes);
  if (refused !== null) return failed(`the header ${refused} that it returned can't be sent`);
  const isSame = JSON.stringify(body) === JSON.stringify(given.body);
  return {
    kind: 'event',
    body: isSame ? null : { text, isJson: typeof body !== 'string' },
    eventType: eventType ?? null,
    headers: changes.removed.length === 0 && Object.keys(changes.set).length === 0 ? null : changes,
  };
}

function headerChanges(
  returned: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>>,
): HeaderChanges {
  const named = new Map(Object.entries(returned).map(([name, text]) => [name.toLowerCase(), text]));
  const before = new Map(Object.entries(given));
  return {
    set: Object.fromEntries([...named].filter(([name, text]) => before.get(name) !== text)),
    removed: [...before.keys()].filter((name) => !named.has(name)),
  };
}

/** Returns the name of a header that only Posthorn or the connection may set, or `null` if all are allowed. */
function refusedHeader({ set }: HeaderChanges): string | null {
  const { 'content-type': type, ...others } = set;
  if (type !== undefined && !CONTENT_TYPE.test(type)) return 'content-type';
  if (HOPS_HEADER in others) return HOPS_HEADER;
  const [fault] = forwardedHeaderFaults(others);
  return fault === undefined ? null : fault.path.replace(/^headers\./, '').slice(0, 100);
}

function isHeaders(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((text) => typeof text === 'string')
  );
}

function failed(why: string): TransformResult {
  return { kind: 'failed', why };
}
