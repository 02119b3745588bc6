import { byteaArray, smallintArray, textArray, uuidArray } from '#kernel/database/pg-array.js';
import type { NewEvent } from './accept.contract.js';

/** Columns of idempotency_keys, in the order of the values of `keyValues`. */
export const KEY_COLUMNS = 'route, key, fingerprint, answer_status, answer_body, fence';

/**
 * SQL that inserts the idempotency keys of `input` and returns the inserted ones (idempotency_keys_pkey). A key that
 * already exists and has not expired is not returned, unless the HTTP layer reserved it for this request. The answer
 * stored with a reserved key may lack fields of the final answer. Other requests therefore do not get it while this
 * request is running.
 *
 * Keys are inserted in a fixed order, so that two groups with the same keys do not deadlock. `ttl` is the lifetime in
 * milliseconds: a parameter, or a column of `input`.
 */
export const takeKeys = (ttl: string): string => `
  insert into idempotency_keys as known (environment_id, route, key, fingerprint, status, body, locked_until,
    expires_at)
  select environment_id, route, key, fingerprint, answer_status, answer_body, fence::timestamptz,
    now() + ${ttl} * interval '1 millisecond'
  from input where key is not null order by key, environment_id, route
  on conflict (environment_id, route, key) do update
    set fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
        locked_until = excluded.locked_until, expires_at = excluded.expires_at
    where known.expires_at <= now() or (known.status is null and known.locked_until = excluded.locked_until)
  returning environment_id, route, key`;

/**
 * SQL condition for the rows of `input` to store: rows without an idempotency key, and rows whose key was just inserted
 * (`k`).
 */
export const FIRST_OF_KEY = 'key is null or (environment_id, route, key) in (select environment_id, route, key from k)';

/** SQL that returns the positions of the rows of `input` that are not in `stored`. The result is usually empty. */
export const leftOut = (stored: string): string =>
  `select n::int from input where (n in (select n from ${stored})) is not true`;

/**
 * Returns the positions of the stored rows, starting at 0, or `all`. `rows` contains the positions that were not
 * stored, starting at 1 (`leftOut`). `length` is the number of rows in `input`.
 */
export function storedBut(rows: readonly { n: number }[], length: number): Set<number> | 'all' {
  if (rows.length === 0) return 'all';
  const stored = new Set(Array(length).keys());
  for (const { n } of rows) stored.delete(n - 1);
  return stored;
}

export function keyValues(items: readonly Pick<NewEvent, 'idempotency'>[]): Buffer[] {
  return [
    textArray(items.map(({ idempotency }) => idempotency?.request.route ?? null)),
    uuidArray(items.map(({ idempotency }) => idempotency?.request.key ?? null)),
    byteaArray(items.map(({ idempotency }) => idempotency?.request.fingerprint ?? null)),
    smallintArray(items.map(({ idempotency }) => idempotency?.status ?? null)),
    textArray(items.map(({ idempotency }) => idempotency?.body ?? null)),
    textArray(items.map(({ idempotency }) => idempotency?.request.fence ?? null)),
  ];
}
