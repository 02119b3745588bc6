import { smallintArray, textArray, uuidArray } from '#kernel/pg-array.js';
import type { NewEvent } from './accept.contract.js';

/** Columns that the rows of `input` have for their idempotency keys, in the order of `onceValues`. */
export const ONCE_COLUMNS = 'route, key, fingerprint, status, body';

/**
 * Takes the keys of `input` (idempotency_keys_pkey): one that is taken, and whose time has not passed, is not among those
 * that are returned. They are inserted in their order, so that two groups with the same keys wait for each other instead
 * of deadlocking. `ttl` is the parameter with their time to live in milliseconds.
 */
export const onceKeys = (ttl: string): string => `
  insert into idempotency_keys as known (environment_id, route, key, fingerprint, status, body, locked_until, expires_at)
  select environment_id, route, key, decode(fingerprint, 'hex'), status, body, null, now() + ${ttl} * interval '1 millisecond'
  from input where key is not null order by environment_id, route, key
  on conflict (environment_id, route, key) do update
    set fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, locked_until = null,
        expires_at = excluded.expires_at
    where known.expires_at <= now()
  returning environment_id, route, key`;

/** Which rows of `input` go in: those without a key, and those whose key was taken now (`k`). */
export const ONCE_FIRST = 'key is null or (environment_id, route, key) in (select environment_id, route, key from k)';

/** The parameters of `ONCE_COLUMNS`. */
export function onceValues(items: readonly Pick<NewEvent, 'once'>[]): Buffer[] {
  return [
    textArray(items.map(({ once }) => once?.request.route ?? null)),
    uuidArray(items.map(({ once }) => once?.request.key ?? null)),
    textArray(items.map(({ once }) => once?.request.fingerprint.toString('hex') ?? null)),
    smallintArray(items.map(({ once }) => once?.status ?? null)),
    textArray(items.map(({ once }) => once?.body ?? null)),
  ];
}
