import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { AliasRoute } from '../contract.js';

const ROUTE = `environment_id as "environmentId", id as "aliasId", max_size_bytes as "maxSizeBytes", allowed_senders as "allowedSenders"`;
/** Time limit of a lookup. An SMTP client waits for the reply. */
const DEADLINE_MS = 10_000;

/** Uses aliases_platform_idx. */
const PLATFORM: Statement = {
  name: 'alias_lookup_platform',
  deadlineMs: DEADLINE_MS,
  text: `select ${ROUTE} from aliases where address = $1 and kind = 'platform' and removed_at is null`,
};

/**
 * Finds the alias for a recipient on a custom domain, among at most 67 addresses that could match (including patterns).
 * Uses aliases_address_idx, with one lookup per address. Ignores aliases of another domain that has the same name but a
 * different id.
 */
const CUSTOM: Statement = {
  name: 'alias_lookup_custom',
  deadlineMs: DEADLINE_MS,
  text: `
    select ${ROUTE} from aliases
    where environment_id = $1 and address = any ($3::text[]) and domain_id = $2 and removed_at is null
      order by array_position($3::text[], address) limit 1`,
};

/** Uses aliases_host_idx. */
const ANYWHERE: Statement = {
  name: 'alias_lookup_anywhere',
  deadlineMs: DEADLINE_MS,
  text: `select 1 from aliases where address = any ($1::text[]) and kind = 'custom' and removed_at is null limit 1`,
};

/**
 * Finds aliases by recipient address across all environments, because an SMTP client sends only the recipient's address
 * and no environment.
 */
@Injectable()
export class AliasLookupStore {
  constructor(private readonly database: Database) {}

  async platform(address: string): Promise<AliasRoute | null> {
    const [row] = await this.database.readPrepared<AliasRoute>(PLATFORM, [address]);
    return row ?? null;
  }

  /** Returns the first alias, in the order of `addresses`, on a verified domain. */
  async custom(
    { environmentId, domainId }: { environmentId: number; domainId: Id },
    addresses: readonly string[],
  ): Promise<AliasRoute | null> {
    const [row] = await this.database.readPrepared<AliasRoute>(CUSTOM, [environmentId, domainId, addresses]);
    return row ?? null;
  }

  async isAnywhere(addresses: readonly string[]): Promise<boolean> {
    return (await this.database.readPrepared(ANYWHERE, [addresses])).length > 0;
  }
}
