import { Injectable } from '@nestjs/common';
import type { Columns } from '#kernel/database/column-names.js';
import { Database, type Statement } from '#kernel/database/database.js';
import type { SignInCodeEntity } from './sign-in.entities.js';

export type PendingCode = Columns<Pick<SignInCodeEntity, 'email' | 'codeHash'>>;

/** Limits on the number of codes for one address within one hour. */
export interface CodeLimits {
  perNetwork: number;
  /**
   * Limits the mail that strangers can trigger. After this number of codes for an address, another code can be
   * requested only from networks in which the address was used to sign in before.
   */
  fromStrangers: number;
}

export interface NewCode {
  ticketHash: Buffer;
  email: string;
  codeHash: Buffer;
  network: string;
}

const LOCK: Statement = {
  name: 'sign_in_codes.lock',
  text: `select pg_advisory_xact_lock(hashtext('posthorn sign-in codes'), hashtext($1))`,
};

const INSERT: Statement = {
  name: 'sign_in_codes.insert',
  // Uses sign_in_codes_email_idx, members_email_idx and sessions_member_id_idx. Ended sessions are stored for a month
  // and count as sign-ins.
  text: `
    with recent as (select network from sign_in_codes where email = $2 and created_at > now() - interval '1 hour'),
    own as (
      select 1 from members m join sessions s on s.organization_id = m.organization_id and s.member_id = m.id
      where m.email = $2 and m.removed_at is null and s.network = $4 limit 1
    )
    insert into sign_in_codes (ticket_hash, email, code_hash, network, tries, created_at, expires_at)
    select $1::bytea, $2, $3::bytea, $4, 0, now(), now() + interval '10 minutes'
    where (select count(*) from recent where network = $4) < $5::int
      and ((select count(*) from recent) < $6::int or exists (select 1 from own))
    returning 1`,
};

const TRY: Statement = {
  name: 'sign_in_codes.try',
  // Uses the index sign_in_codes_pkey. The attempt is counted before the comparison, so that concurrent requests get no
  // extra attempts.
  text: `
    update sign_in_codes set tries = tries + 1
    where ticket_hash = $1::bytea and tries < $2::int and used_at is null and expires_at > now()
    returning email, code_hash`,
};

const USE: Statement = {
  name: 'sign_in_codes.use',
  // Uses sign_in_codes_pkey. If two concurrent requests send the right code, only one succeeds.
  text: 'update sign_in_codes set used_at = now() where ticket_hash = $1::bytea and used_at is null returning email',
};

const PURGE: Statement = {
  name: 'sign_in_codes.purge',
  // Uses the index sign_in_codes_expires_at_idx.
  text: `delete from sign_in_codes where expires_at < now() - interval '1 day'`,
};

/** Stores sign-in codes and their tickets only as hashes. */
@Injectable()
export class CodesStore {
  constructor(private readonly database: Database) {}

  /**
   * Stores a code. Returns false if a limit is reached. Serializes the calls for an address, so that concurrent calls
   * cannot exceed the limits.
   */
  insert(
    { ticketHash, email, codeHash, network }: NewCode,
    { perNetwork, fromStrangers }: CodeLimits,
  ): Promise<boolean> {
    return this.database.transaction(async () => {
      await this.database.query(LOCK, [email]);
      return (
        (await this.database.query(INSERT, [ticketHash, email, codeHash, network, perNetwork, fromStrangers])).length >
        0
      );
    });
  }

  /** Counts one attempt to enter the code. Returns null if no attempt is left. */
  async try(ticketHash: Buffer, triesMax: number): Promise<PendingCode | null> {
    return (await this.database.query<PendingCode>(TRY, [ticketHash, triesMax]))[0] ?? null;
  }

  /** Marks a code as used. Returns false if the code was already used. */
  async use(ticketHash: Buffer): Promise<boolean> {
    return (await this.database.query(USE, [ticketHash])).length > 0;
  }

  async purge(): Promise<void> {
    await this.database.query(PURGE);
  }
}
