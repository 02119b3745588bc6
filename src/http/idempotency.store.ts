import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { sealedIn, Vault } from '#kernel/crypto/vault.js';
import { Database } from '#kernel/database/database.js';
import { AlreadyAnswered, type IdempotentRequest, type StoredAnswer } from '#kernel/idempotency.js';
import { keyInFlight, keyReused } from './idempotency-key.js';

/** The right to answer a key. `fence` names this try: whoever takes over after the lease has another one. */
export type Reservation = Required<IdempotentRequest>;

interface Row {
  fingerprint: Buffer;
  status: number | null;
  body: string | null;
  sealed_body: Buffer | null;
  running: boolean;
}

/**
 * A reservation that nobody renews blocks its key for no longer than this: that of a process that died, or one that was
 * stored and never confirmed.
 */
export const LEASE_MS = 12_000;

// idempotency_keys_pkey serves every statement but the last, idempotency_keys_expires_at_idx that one.
const RESERVE = {
  name: 'idempotency_reserve',
  text: `
    insert into idempotency_keys as k (environment_id, route, key, fingerprint, locked_until, expires_at)
    values ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 ms', clock_timestamp() + $6 * interval '1 ms')
    on conflict (environment_id, route, key) do update
      set fingerprint = excluded.fingerprint, status = null, body = null, sealed_body = null,
          locked_until = excluded.locked_until, held_until = null, expires_at = excluded.expires_at
      where k.expires_at <= clock_timestamp() or (k.status is null and greatest(k.locked_until, k.held_until) <= clock_timestamp())
    returning locked_until::text as fence`,
};

const READ = {
  name: 'idempotency_read',
  text: `
    select fingerprint, status, body, sealed_body, coalesce(greatest(locked_until, held_until) > clock_timestamp(), false) as running
    from idempotency_keys where environment_id = $1 and route = $2 and key = $3`,
};

/** `locked_until` stays what it was: it names the try. */
const RENEW = {
  name: 'idempotency_renew',
  text: `
    update idempotency_keys set held_until = clock_timestamp() + $5 * interval '1 ms'
    where environment_id = $1 and route = $2 and key = $3 and locked_until = $4::timestamptz`,
};

/** Also over the answer of the statement that wrote the effect, which may say less than this one. */
const COMPLETE = {
  name: 'idempotency_complete',
  text: `
    update idempotency_keys set status = $5::smallint, body = null, sealed_body = $6, locked_until = null, held_until = null
    where environment_id = $1 and route = $2 and key = $3 and locked_until = $4::timestamptz
    returning 1`,
};

/** What has its answer with its effect keeps that; otherwise nothing was made. */
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
      select ctid from idempotency_keys where expires_at <= clock_timestamp() order by expires_at limit $1 for update skip locked
    )
    delete from idempotency_keys where ctid = any (array(select ctid from expired)) returning 1`,
};

/** First answers to idempotency keys, in PostgreSQL only: a lost key would mean a duplicate. */
@Injectable()
export class IdempotencyStore {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly vault: Vault,
  ) {}

  /**
   * Takes the key for this request. Throws `AlreadyAnswered` when it has its answer, 409 when it belongs to another
   * body or is being answered.
   */
  async reserve(request: IdempotentRequest): Promise<Reservation> {
    const values = [...keyOf(request), request.fingerprint, LEASE_MS, this.config.idempotencyTtlMs];
    const [row] = await this.database.query<{ fence: string }>(RESERVE, values);
    if (row) return { ...request, fence: row.fence };
    const earlier = await this.find(request);
    if (earlier) throw new AlreadyAnswered(earlier);
    throw keyInFlight();
  }

  /** Keeps the key for a request that still runs, for another lease. */
  async renew(reservation: Reservation): Promise<void> {
    await this.database.query(RENEW, [...keyOf(reservation), reservation.fence, LEASE_MS]);
  }

  /** Writes the answer; inside a transaction it commits with the effect. Throws 409 when the lease was lost. */
  async complete(reservation: Reservation, answer: StoredAnswer): Promise<void> {
    // Sealed: the answer of a creating route may hold a key or a secret that is shown this once.
    const sealed = this.vault.seal(answer.body, contextOf(reservation));
    const rows = await this.database.query(COMPLETE, [...keyOf(reservation), reservation.fence, answer.status, sealed]);
    if (rows.length === 0) throw keyInFlight();
  }

  /** Gives the key back: the next request with it runs, or gets the answer that was committed with what this one made. */
  async release(reservation: Reservation): Promise<void> {
    await this.database.query(RELEASE, [...keyOf(reservation), reservation.fence]);
  }

  /** Deletes up to `limit` expired keys, oldest first; returns how many it were. */
  async purgeExpired(limit: number): Promise<number> {
    return (await this.database.query(PURGE, [limit])).length;
  }

  /** The answer of this very request, or null while there is none. Throws 409 when the key has another body. */
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

/** What a sealed answer is bound to: moved to another key it can't be opened. */
const contextOf = ({ environmentId, route, key }: IdempotentRequest): string =>
  sealedIn({ table: 'idempotency_keys', environmentId, id: `${route} ${key}`, column: 'sealed_body' });
