import { forwardedHeaderFaults } from '#engine/headers.js';
import { HOPS_HEADER } from '#engine/inbound/forward.js';
import { findMemberRange } from '#engine/member-range.js';
import type { GuestRequest } from './guest-request.js';
import type { HeaderChanges, TransformResult } from './url-transforms.js';

const EVENT_TYPE = /^[A-Za-z0-9._:/-]{1,256}$/;
const CONTENT_TYPE = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/;

type Given = GuestRequest & { event_type: string };

/** Returns the event built from the JSON that code returned. `givenBody` is the JSON of the body given to the code. */
export function returnedEvent(json: string, given: Given, givenBody: string): TransformResult {
  const value = JSON.parse(json) as unknown;
  if (typeof value !== 'object' || value === null || !('body' in value)) return failed('what it returned has no body');
  const {
    body,
    event_type: eventType,
    headers = given.headers,
    ...others
  } = value as { body: unknown; event_type?: unknown; headers?: unknown };
  const fault = faultOf(others, given);
  if (fault !== null) return failed(fault);
  if (eventType !== undefined && (typeof eventType !== 'string' || !EVENT_TYPE.test(eventType)))
    return failed('the event_type it returned is none');
  const range = findMemberRange(json, 'body');
  const bodyJson = json.slice(range?.start, range?.end);
  const text = typeof body === 'string' ? Buffer.from(body).toString() : bodyJson;
  if (text.includes('\0')) return failed('the body it returned contains U+0000');
  if (!isHeaders(headers)) return failed('the headers it returned are no object of texts');
  const changes = headerChanges(headers, given.headers);
  const refused = refusedHeader(changes);
  if (refused !== null) return failed(`the header ${refused} that it returned can't be sent`);
  return {
    kind: 'event',
    body: bodyJson === givenBody ? null : { text, isJson: typeof body !== 'string' },
    eventType: eventType ?? null,
    headers: changes.removed.length === 0 && Object.keys(changes.set).length === 0 ? null : changes,
  };
}

/** Returns the error in the event, or null. Rejects unknown fields, and changes to read-only fields. */
function faultOf(returned: object, given: Given): string | null {
  for (const [name, value] of Object.entries(returned)) {
    if (!Object.hasOwn(given, name)) return `it returned the unknown field ${JSON.stringify(name)}`;
    if (JSON.stringify(value) !== JSON.stringify(given[name as keyof Given]))
      return `it changed the field ${JSON.stringify(name)}, but only body, event_type and headers can change`;
  }
  return null;
}

function headerChanges(
  returned: Readonly<GuestRequest['headers']>,
  given: Readonly<GuestRequest['headers']>,
): HeaderChanges {
  const named = new Map(Object.entries(returned).map(([name, value]) => [name.toLowerCase(), lineOf(value)]));
  const before = new Map(Object.entries(given).map(([name, value]) => [name, lineOf(value)]));
  return {
    set: Object.fromEntries([...named].filter(([name, text]) => before.get(name) !== text)),
    removed: [...before.keys()].filter((name) => !named.has(name)),
  };
}

/** Returns the name of a header that only Posthorn or the HTTP connection may set, or `null` if there is none. */
function refusedHeader({ set }: HeaderChanges): string | null {
  const { 'content-type': type, ...others } = set;
  if (type !== undefined && !CONTENT_TYPE.test(type)) return 'content-type';
  if (HOPS_HEADER in others) return HOPS_HEADER;
  const [fault] = forwardedHeaderFaults(others);
  return fault === undefined ? null : fault.path.replace(/^headers\./, '');
}

/** Returns the values of a repeated header as one line (RFC 9110, section 5.3). */
function lineOf(value: string | string[]): string {
  return typeof value === 'string' ? value : value.join(', ');
}

function isHeaders(value: unknown): value is GuestRequest['headers'] {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value)
      .flat()
      .every((text) => typeof text === 'string')
  );
}

function failed(why: string): TransformResult {
  return { kind: 'failed', why };
}
