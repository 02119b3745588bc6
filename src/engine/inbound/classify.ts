import type { Preset } from './preset.js';
import type { ReceivedRequest } from './request.js';
import { readFirst, type Recipe } from './source.js';

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

const FALLBACK = 'webhook.received';
const EVENT_TYPE_LENGTH_MAX = 256;
const OUTSIDE_ALPHABET = /[^A-Za-z0-9._:/-]/g;
const DEDUPE_ID = /^[\x20-\x7e]{1,256}$/;
/** Where senders without a preset mostly put it. */
const USUAL: readonly Recipe[] = [[{ member: 'type' }], [{ member: 'event_type' }], [{ member: 'event' }]];

/**
 * The type of the event that a request brings: 1 to 256 of `A-Z a-z 0-9 . _ : / -`, everything else replaced by `_`;
 * `webhook.received` when the request names none.
 */
export function eventTypeOf(preset: Pick<Preset, 'eventType'> | null, request: Received): string {
  const found = readFirst(preset?.eventType ?? USUAL, request, '.') ?? FALLBACK;
  return found.slice(0, EVENT_TYPE_LENGTH_MAX).replace(OUTSIDE_ALPHABET, '_');
}

/**
 * What the provider repeats when it sends the same delivery again: 1 to 256 printable ASCII characters. Null when it sends
 * nothing of the kind; a longer id is not cut, because two deliveries would then look like one.
 */
export function dedupeIdOf(preset: Pick<Preset, 'dedupeId'> | null, request: Received): string | null {
  const found = readFirst(preset?.dedupeId ?? [], request, ':');
  return found !== undefined && DEDUPE_ID.test(found) ? found : null;
}
