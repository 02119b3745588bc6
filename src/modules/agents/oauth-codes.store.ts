import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { KeyGranter } from '#modules/auth/granted-keys.contract.js';

export interface GrantedCode {
  environmentId: number;
  clientId: string;
  clientName: string;
  redirectUri: string;
  codeChallenge: string;
  lifetimeSeconds: number;
  grantedBy: string;
  granter: KeyGranter;
}

export interface TakenCode extends GrantedCode {
  isExpired: boolean;
  /** True if the code was used before. `keyId` is then the id of the API key that was issued at the first use. */
  wasUsed: boolean;
  keyId: Id | null;
}

const ADD: Statement = {
  name: 'oauth_codes.add',
  text: `
    insert into oauth_codes (environment_id, hash, client_id, client_name, redirect_uri, code_challenge,
      lifetime_seconds, granted_by, granter_member_id, granter_key_id, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $10, $11, now(), now() + make_interval(secs => $9))`,
};

/** Uses `oauth_codes_hash_idx`. Locks the row first, so that a second caller sees the update of the first caller. */
const TAKE: Statement = {
  name: 'oauth_codes.take',
  text: `
    with before as (select * from oauth_codes where hash = $1 for update)
    update oauth_codes c set used_at = coalesce(c.used_at, now()) from before b
      where c.environment_id = b.environment_id and c.hash = b.hash
    returning c.environment_id as "environmentId", c.client_id as "clientId", c.client_name as "clientName",
      c.redirect_uri as "redirectUri",
      c.code_challenge as "codeChallenge", c.lifetime_seconds as "lifetimeSeconds", c.granted_by as "grantedBy",
      jsonb_build_object('memberId', c.granter_member_id, 'keyId', c.granter_key_id) as granter,
      c.expires_at <= now() as "isExpired", b.used_at is not null as "wasUsed", c.key_id as "keyId"`,
};

/** Uses the index `oauth_codes_pkey`. */
const NOTE_KEY: Statement = {
  name: 'oauth_codes.note_key',
  text: 'update oauth_codes set key_id = $3 where environment_id = $1 and hash = $2',
};

/** Uses the index `oauth_codes_expires_at_idx`. Codes are kept for a day after expiry, to detect their reuse. */
const PURGE: Statement = {
  name: 'oauth_codes.purge',
  text: `delete from oauth_codes where expires_at < now() - interval '1 day'`,
};

/** Authorization codes, identified by their SHA-256. */
@Injectable()
export class OAuthCodesStore {
  constructor(private readonly database: Database) {}

  async add(hash: Buffer, code: GrantedCode, validSeconds: number): Promise<void> {
    const { environmentId, clientId, clientName, redirectUri, codeChallenge, lifetimeSeconds, grantedBy, granter } =
      code;
    await this.database.query(ADD, [
      environmentId,
      hash,
      clientId,
      clientName,
      redirectUri,
      codeChallenge,
      lifetimeSeconds,
      grantedBy,
      validSeconds,
      granter.memberId,
      granter.keyId,
    ]);
  }

  /** Marks the code as used, in the caller's transaction. Returns `null` if there is no such code. */
  async take(hash: Buffer): Promise<TakenCode | null> {
    const [taken] = await this.database.query<TakenCode>(TAKE, [hash]);
    return taken ?? null;
  }

  async noteKey(environmentId: number, hash: Buffer, keyId: Id): Promise<void> {
    await this.database.query(NOTE_KEY, [environmentId, hash, keyId]);
  }

  async purge(): Promise<void> {
    await this.database.query(PURGE);
  }
}
