import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { sealedIn, Vault } from '#kernel/crypto/vault.js';
import { Database } from '#kernel/database/database.js';
import { AlreadyAnswered, type IdempotentRequest, type StoredAnswer } from '#kernel/idempotency.js';
import { keyInFlight, keyReused } from './idempotency-key.js';

/** The right to store the response for a key. Each attempt has its own fencing token, `fence`. */
export type Reservation = Required<IdempotentRequest>;

interface Row {
  fingerprint: Buffer;
  status: number | null;
  body: string | null;
  sealed_body: Buffer | null;
  running: boolean;
}

/** Duration of a lease. Without renewal, a reservation blocks its key for this time, for example after a crash. */
export const LEASE_MS = 12_000;

// Of the statements below, only the last uses idempotency_keys_expires_at_idx. The others use idempotency_keys_pkey.
const RESERVE = {
  name: 'idempotency_reserve',
  text: `
    insert into idempotency_keys as k (environment_id, route, key, fingerprint, locked_until, expires_at)
    values ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 ms', clock_timestamp() + $6 * interval '1 ms')
    on conflict (environment_id, route, key) do update
      set fingerprint = excluded.fingerprint, status = null, body = null, sealed_body = null,
          locked_until = excluded.locked_until, held_until = null, expires_at = excluded.expires_at
      where k.expires_at <= clock_timestamp() or (k.status is null and greatest(k.locked_until,
        k.held_until) <= clock_timestamp())
    returning locked_until::text as fence`,
};

const READ = {
  name: 'idempotency_read',
  text: `
    select fingerprint, status, body, sealed_body, coalesce(greatest(locked_until, held_until) > clock_timestamp(),
      false) as running
    from idempotency_keys where environment_id = $1 and route = $2 and key = $3`,
};

/** Renews the lease. Does not change `locked_until`, which is the fencing token. */
const RENEW = {
  name: 'idempotency_renew',
  text: `
    update idempotency_keys set held_until = clock_timestamp() + $5 * interval '1 ms'
    where environment_id = $1 and route = $2 and key = $3 and locked_until = $4::timestamptz`,
};

/**
 * Stores the final response. It replaces an earlier response that may have been committed together with the request's
 * changes.
 */
const COMPLETE = {
  name: 'idempotency_complete',
  text: `
    update idempotency_keys set status = $5::smallint, body = null, sealed_body = $6, locked_until = null,
      held_until = null
    where environment_id = $1 and route = $2 and key = $3 and locked_until = $4::timestamptz
    returning 1`,
};

/**
 * Deletes the key. If a response was committed together with the request's changes, keeps the key and only ends the
 * lease.
 */
const RELEASE = {
  name: 'idempotency_release',
  text: `
    with answered as (
      update idempotency_keys set locked_until = null, held_until = null
      where environment_id = $1 and route = $2 and key = $3 and status is not null and locked_until = $4::timestamptz
    )
    delete from idempotency_keys
    where environment_id = $1 and route = $2 and key = $3 and status is null and locked_until = $4::timestamptz`,
};

const PURGE = {
  name: 'idempotency_purge',
  text: `
    with expired as (
      select ctid from idempotency_keys where expires_at <= clock_timestamp() order by expires_at limit $1
        for update skip locked
    )
    delete from idempotency_keys where ctid = any (array(select ctid from expired)) returning 1`,
};

/**
 * Stores the first response for each idempotency key. Uses only PostgreSQL, because a lost key could cause a duplicate.
 */
@Injectable()
export class IdempotencyStore {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly vault: Vault,
  ) {}

  /** Reserves the key. Throws `AlreadyAnswered` if it has a response, or 409 if another request has reserved it. */
  async reserve(request: IdempotentRequest): Promise<Reservation> {
    const values = [...keyOf(request), request.fingerprint, LEASE_MS, this.config.idempotencyTtlMs];
    const [row] = await this.database.query<{ fence: string }>(RESERVE, values);
    if (row) return { ...request, fence: row.fence };
    const earlier = await this.find(request);
    if (earlier) throw new AlreadyAnswered(earlier);
    throw keyInFlight();
  }

  async renew(reservation: Reservation): Promise<void> {
    await this.database.query(RENEW, [...keyOf(reservation), reservation.fence, LEASE_MS]);
  }

  /**
   * Stores the response. Inside a transaction, it is committed together with the request's changes. Throws 409 if the
   * lease was lost.
   */
  async complete(reservation: Reservation, answer: StoredAnswer): Promise<void> {
    // Encrypted, because it may contain a key or a secret that is shown only once.
    const sealed = this.vault.seal(answer.body, contextOf(reservation));
    const rows = await this.database.query(COMPLETE, [...keyOf(reservation), reservation.fence, answer.status, sealed]);
    if (rows.length === 0) throw keyInFlight();
  }

  /**
   * Releases the key, so that the request can be sent again. If its changes were committed, the repeated request gets
   * the response stored with them.
   */
  async release(reservation: Reservation): Promise<void> {
    await this.database.query(RELEASE, [...keyOf(reservation), reservation.fence]);
  }

  /** Deletes expired keys, oldest first. Returns their number. */
  async purgeExpired(limit: number): Promise<number> {
    return (await this.database.query(PURGE, [limit])).length;
  }

  /** Returns the stored response for the key, or null if there is none. Throws 409 if the requests differ. */
  async find(request: IdempotentRequest): Promise<StoredAnswer | null> {
    const [row] = await this.database.query<Row>(READ, keyOf(request));
    if (!row) return null;
    if (!row.fingerprint.equals(request.fingerprint)) throw keyReused();
    if (row.status === null || row.running) return null;
    const body = row.sealed_body ? this.vault.open(row.sealed_body, contextOf(request)).toString() : row.body;
    return { status: row.status, body: body ?? '' };
  }
}

function keyOf({ environmentId, route, key }: IdempotentRequest): [number, string, string] {
  return [environmentId, route, key];
}

/** Binds an encrypted response to its key, so that it cannot be decrypted for another key. */
const contextOf = ({ environmentId, route, key }: IdempotentRequest): string =>
  sealedIn({ table: 'idempotency_keys', environmentId, id: `${route} ${key}`, column: 'sealed_body' });
