import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { ForwardAddressEntity } from './actions.entities.js';

export type ForwardState = ForwardAddressEntity['state'];

/** A confirmation mail to send. */
export interface DueConfirmation {
  environmentId: number;
  address: string;
  nonce: Id;
  tries: number;
}

/** Uses forward_addresses_pkey. */
const STATES: Statement = {
  name: 'forward_addresses_states',
  text: 'select address, state from forward_addresses where environment_id = $1 and address = any ($2::text[])',
};

/**
 * Inserts an address, or schedules another confirmation mail. Changes nothing if the owner has already decided, or if
 * the last request to the owner was made less than an hour ago. Uses forward_addresses_pkey.
 */
const REQUEST: Statement = {
  name: 'forward_addresses_request',
  text: `
    insert into forward_addresses as f (environment_id, address, state, nonce, requested_at, send_at, tries)
      values ($1, $2, $3, $4, now(), case when $3 = 'pending' then now() end, 0)
    on conflict (environment_id, address) do update set requested_at = now(), send_at = now(), tries = 0, detail = null
      where f.state = 'pending' and f.requested_at < now() - interval '1 hour'`,
};

/** Uses forward_addresses_pkey for the environment's rows, at most a few thousand. */
const COUNT: Statement = {
  name: 'forward_addresses_count',
  text: `
    select count(*)::int as count from forward_addresses where environment_id = $1 and state = $2
      and ($2 = 'pending' or requested_at > now() - interval '1 day')`,
};

/**
 * Claims due confirmation mails: postpones the next attempt by the lease, so that only one process sends each mail.
 * Uses forward_addresses_send_at_idx.
 */
const CLAIM_DUE: Statement = {
  name: 'forward_addresses_claim_due',
  text: `
    update forward_addresses f set send_at = now() + $2::float8 * interval '1 millisecond', tries = f.tries + 1
    from (select environment_id, address from forward_addresses where send_at <= now() order by send_at limit $1
      for update skip locked) d
    where f.environment_id = d.environment_id and f.address = d.address
    returning f.environment_id as "environmentId", f.address, f.nonce, f.tries`,
};

/** Uses forward_addresses_pkey. */
const NOTE: Statement = {
  name: 'forward_addresses_note',
  text: `
    update forward_addresses set send_at = case when $4::float8 is null then null
      else now() + $4::float8 * interval '1 millisecond' end, detail = $5
    where environment_id = $1 and address = $2 and nonce = $3 and state = 'pending'`,
};

/**
 * Records the owner's decision. A refusal is always possible, a confirmation only while the address is pending. Uses
 * forward_addresses_pkey.
 */
const DECIDE: Statement = {
  name: 'forward_addresses_decide',
  text: `
    update forward_addresses set state = $4, decided_at = now(), send_at = null
    where environment_id = $1 and address = $2 and nonce = $3 and (state = 'pending' or $4 = 'refused')
    returning state`,
};

/** Uses forward_addresses_pkey. */
const FIND: Statement = {
  name: 'forward_addresses_find',
  text: `
    select f.state, f.requested_at as "requestedAt" from forward_addresses f
    where f.environment_id = $1 and f.address = $2 and f.nonce = $3`,
};

/** Time in ms until the next confirmation mail is due. Uses forward_addresses_send_at_idx. */
export const CONFIRMATION_IN_MS =
  'select extract(epoch from send_at - now()) * 1000 from forward_addresses where send_at is not null order by send_at limit 1';

/**
 * Deletes addresses that no alias uses and that were requested more than a day ago. Refusals are kept, so that the
 * owner is not asked again. Scans the table and all aliases only once, because `unnest` allows a hash join, while
 * `address = any (forward_to)` does not.
 */
const FORGET: Statement = {
  name: 'forward_addresses_forget',
  text: `
    delete from forward_addresses f
    where f.state <> 'refused' and f.requested_at < now() - interval '1 day' and not exists (
      select from aliases a cross join unnest(a.forward_to) u (address)
      where a.environment_id = f.environment_id and a.removed_at is null and a.forward_to <> '{}'
        and u.address = f.address)`,
};

/** Stores forward addresses and the decisions of their owners. */
@Injectable()
export class ForwardAddressesStore {
  constructor(private readonly database: Database) {}

  /** Returns the states of those addresses that are stored, in the caller's transaction if there is one. */
  async statesOf(environmentId: number, addresses: readonly string[]): Promise<ReadonlyMap<string, ForwardState>> {
    if (addresses.length === 0) return new Map();
    const rows = await this.database.query<{ address: string; state: ForwardState }>(STATES, [
      environmentId,
      addresses,
    ]);
    return new Map(rows.map(({ address, state }) => [address, state]));
  }

  async request(environmentId: number, address: string, nonce: Id, state: ForwardState): Promise<void> {
    await this.database.query(REQUEST, [environmentId, address, state, nonce]);
  }

  /** Counts all `pending` addresses, or the addresses in another state that were requested within the last day. */
  async count(environmentId: number, state: ForwardState): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(COUNT, [environmentId, state]);
    return row?.count ?? 0;
  }

  claimDue(limit: number, leaseMs: number): Promise<DueConfirmation[]> {
    return this.database.query<DueConfirmation>(CLAIM_DUE, [limit, leaseMs]);
  }

  /**
   * Records an attempt to send the confirmation mail. `againInMs` is the delay of the next attempt, or null for none.
   */
  async note(
    { environmentId, address, nonce }: DueConfirmation,
    againInMs: number | null,
    detail: string,
  ): Promise<void> {
    await this.database.query(NOTE, [environmentId, address, nonce, againInMs, detail]);
  }

  /** Records the owner's decision. Returns false if the link is outdated. */
  async decide(environmentId: number, address: string, nonce: Id, state: 'confirmed' | 'refused'): Promise<boolean> {
    return (await this.database.query(DECIDE, [environmentId, address, nonce, state])).length > 0;
  }

  async find(
    environmentId: number,
    address: string,
    nonce: Id,
  ): Promise<{ state: ForwardState; requestedAt: Date } | null> {
    const [row] = await this.database.query<{ state: ForwardState; requestedAt: Date }>(FIND, [
      environmentId,
      address,
      nonce,
    ]);
    return row ?? null;
  }

  async forget(): Promise<void> {
    await this.database.query(FORGET);
  }
}
