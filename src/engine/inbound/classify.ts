import type { Preset } from './preset.js';
import type { ReceivedRequest } from './request.js';
import { readFirst, type Recipe } from './source.js';

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

const FALLBACK = 'webhook.received';
const EVENT_TYPE_LENGTH_MAX = 256;
const OUTSIDE_ALPHABET = /[^A-Za-z0-9._:/-]/g;
const DEDUPE_ID = /^[\x20-\x7e]{1,256}$/;
/** Usual locations of the event type for senders without a preset. */
const USUAL: readonly Recipe[] = [[{ member: 'type' }], [{ member: 'event_type' }], [{ member: 'event' }]];

/** Returns 1 to 256 of `A-Z a-z 0-9 . _ : / -`; others become `_`. Returns `webhook.received` if there is no type. */
export function eventTypeOf(preset: Pick<Preset, 'eventType'> | null, request: Received): string {
  const found = readFirst(preset?.eventType ?? USUAL, request, '.') ?? FALLBACK;
  return found.slice(0, EVENT_TYPE_LENGTH_MAX).replace(OUTSIDE_ALPHABET, '_');
}

/** Returns 1 to 256 printable ASCII characters, or null. Longer ids are ignored, since truncated ids could be equal. */
export function dedupeIdOf(preset: Pick<Preset, 'dedupeId'> | null, request: Received): string | null {
  const found = readFirst(preset?.dedupeId ?? [], request, ':');
  return found !== undefined && DEDUPE_ID.test(found) ? found : null;
}
