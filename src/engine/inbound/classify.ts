import type { Preset } from './preset.js';
import type { ReceivedRequest } from './request.js';
import { readFirst, type Recipe } from './source.js';

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

const FALLBACK = 'webhook.received';
const EVENT_TYPE_LENGTH_MAX = 256;
const OUTSIDE_ALPHABET = /[^A-Za-z0-9._:/-]/g;
const DEDUPE_ID = /^[\x20-\x7e]{1,256}$/;
/** JSON members that usually contain the event type. Used for senders without a preset. */
const USUAL: readonly Recipe[] = [[{ member: 'type' }], [{ member: 'event_type' }], [{ member: 'event' }]];

/**
 * Returns the event type: 1 to 256 characters of `A-Z a-z 0-9 . _ : / -`. Replaces other characters with `_`. Returns
 * `webhook.received` if there is no type.
 */
export function eventTypeOf(preset: Pick<Preset, 'eventType'> | null, request: Received): string {
  const found = readFirst(preset?.eventType ?? USUAL, request, '.') ?? FALLBACK;
  return found.slice(0, EVENT_TYPE_LENGTH_MAX).replace(OUTSIDE_ALPHABET, '_');
}

/** Returns a deduplication id of 1 to 256 printable ASCII characters, or null. Longer ids are ignored, not cut. */
export function dedupeIdOf(preset: Pick<Preset, 'dedupeId'> | null, request: Received): string | null {
  const found = readFirst(preset?.dedupeId ?? [], request, ':');
  return found !== undefined && DEDUPE_ID.test(found) ? found : null;
}
