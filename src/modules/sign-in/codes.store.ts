import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';

/** A code that may still be tried. */
export interface PendingCode {
  email: string;
  code_hash: Buffer;
}

const INSERT: Statement = {
  name: 'sign_in_codes.insert',
  text: `
    insert into sign_in_codes (ticket_hash, email, code_hash, tries, created_at, expires_at)
    values ($1::bytea, $2, $3::bytea, 0, now(), now() + interval '10 minutes')`,
};

const RECENT: Statement = {
  name: 'sign_in_codes.recent',
  // Index sign_in_codes_email_idx.
  text: `select count(*)::int as count from sign_in_codes where email = $1 and created_at > now() - interval '1 hour'`,
};

const TRY: Statement = {
  name: 'sign_in_codes.try',
  // Index sign_in_codes_pkey. Counted before it is compared: who asks many times at once has no more tries.
  text: `
    update sign_in_codes set tries = tries + 1
    where ticket_hash = $1::bytea and tries < $2::int and used_at is null and expires_at > now()
    returning email, code_hash`,
};

const USE: Statement = {
  name: 'sign_in_codes.use',
  // Index sign_in_codes_pkey. Once: of two that are right at the same moment, one is let in.
  text: 'update sign_in_codes set used_at = now() where ticket_hash = $1::bytea and used_at is null returning email',
};

const PURGE: Statement = {
  name: 'sign_in_codes.purge',
  // Index sign_in_codes_expires_at_idx.
  text: `delete from sign_in_codes where expires_at < now() - interval '1 day'`,
};

/** One-time codes. Neither the codes nor the tickets are stored: only hashes. */
@Injectable()
export class CodesStore {
  constructor(private readonly database: Database) {}

  async insert(ticketHash: Buffer, email: string, codeHash: Buffer): Promise<void> {
    await this.database.query(INSERT, [ticketHash, email, codeHash]);
  }

  /** How many codes were made for an address within the hour. */
  async recent(email: string): Promise<number> {
    return (await this.database.query<{ count: number }>(RECENT, [email]))[0]?.count ?? 0;
  }

  /** The code of a ticket, with one try used up; null when there is none that may be tried. */
  async try(ticketHash: Buffer, triesMax: number): Promise<PendingCode | null> {
    return (await this.database.query<PendingCode>(TRY, [ticketHash, triesMax]))[0] ?? null;
  }

  /** False when it has been used. */
  async use(ticketHash: Buffer): Promise<boolean> {
    return (await this.database.query(USE, [ticketHash])).length > 0;
  }

  async purge(): Promise<void> {
    await this.database.query(PURGE);
  }
}
