import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { AliasRoute } from '../contract.js';

const ROUTE = `environment_id as "environmentId", id as "aliasId", max_size_bytes as "maxSizeBytes", allowed_senders as "allowedSenders"`;
/** Maximum time of a lookup. SMTP clients wait no longer than this for a reply. */
const DEADLINE_MS = 10_000;

/** Uses aliases_platform_idx. */
const PLATFORM: Statement = {
  name: 'alias_lookup_platform',
  deadlineMs: DEADLINE_MS,
  text: `select ${ROUTE} from aliases where address = $1 and kind = 'platform' and removed_at is null`,
};

/** Uses aliases_address_idx. Ignores aliases that belong to a different domain (id) with the same name. */
const CUSTOM: Statement = {
  name: 'alias_lookup_custom',
  deadlineMs: DEADLINE_MS,
  text: `
    select ${ROUTE} from aliases
    where environment_id = $1 and address = any ($3::text[]) and domain_id = $2 and removed_at is null
      order by local_part = '*' limit 1`,
};

/** Uses aliases_host_idx. */
const ANYWHERE: Statement = {
  name: 'alias_lookup_anywhere',
  deadlineMs: DEADLINE_MS,
  text: `select 1 from aliases where address = any ($1::text[]) and kind = 'custom' and removed_at is null limit 1`,
};

/** Finds aliases by recipient address, over all environments, because an address does not contain an environment. */
@Injectable()
export class AliasLookupStore {
  constructor(private readonly database: Database) {}

  async platform(address: string): Promise<AliasRoute | null> {
    const [row] = await this.database.readPrepared<AliasRoute>(PLATFORM, [address]);
    return row ?? null;
  }

  /** Returns the alias with this address on a verified domain, or the domain's catch-all alias. */
  async custom(
    { environmentId, domainId }: { environmentId: number; domainId: Id },
    exact: string,
    catchAll: string,
  ): Promise<AliasRoute | null> {
    const [row] = await this.database.readPrepared<AliasRoute>(CUSTOM, [environmentId, domainId, [exact, catchAll]]);
    return row ?? null;
  }

  async isAnywhere(exact: string, catchAll: string): Promise<boolean> {
    return (await this.database.readPrepared(ANYWHERE, [[exact, catchAll]])).length > 0;
  }
}
