import { Injectable } from '@nestjs/common';
import { Database, isStorageAway, type Statement } from '#kernel/database/database.js';
import { GroupedReads } from '#kernel/database/grouped-reads.js';
import { intArray, textArray } from '#kernel/database/pg-array.js';
import { unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';

const HOSTS_MAX = 128;

export interface SendingRow {
  id: Id;
  domain: string;
  isReturnPathSeen: boolean;
  dkimSigner: 'platform' | 'domain';
  version: number;
  isPaused: boolean;
}

const SENDING: Statement = {
  name: 'domains.sending',
  // Uses the index domains_host_idx.
  text: `
    select i.n::int - 1 as place, d.id, d.host as domain, d.return_path_seen as "isReturnPathSeen",
      d.dkim_signer as "dkimSigner", d.version, d.reputation = 'paused' as "isPaused"
    from unnest($1::int[], $2::text[]) with ordinality as i(environment_id, host, n)
    join domains d on d.environment_id = i.environment_id and d.host = i.host and d.is_owner and d.sending_enabled`,
};

const RECEIVING: Statement = {
  name: 'domains.receiving',
  // Uses the unique index domains_owner_idx. A host has at most one owner.
  text: `
    select environment_id as "environmentId", id as "domainId" from domains
    where host = $1 and is_owner and receiving_enabled and kind = 'email'`,
};

const OF_ENVIRONMENT: Statement = {
  name: 'domains.of_environment',
  // Uses the index domains_pkey. The lock blocks conversion and deletion of the domain until the transaction ends.
  text: `
    select host as domain from domains
    where environment_id = $1::int and id = $2::uuid and is_owner and receiving_enabled and kind = 'email' for share`,
};

@Injectable()
export class VerifiedDomainsStore {
  private readonly sendingReads = new GroupedReads<{ environmentId: number; host: string }, SendingRow | null>(
    (asked) => this.sendingOf(asked),
    HOSTS_MAX,
  );

  constructor(private readonly database: Database) {}

  /** Returns the domain with this host, if mail may be sent from it. Throws 503 while storage is unavailable. */
  sending(environmentId: number, host: string): Promise<SendingRow | null> {
    return storedOr503(() => this.sendingReads.get({ environmentId, host }));
  }

  receiving(host: string): Promise<{ environmentId: number; domainId: Id } | null> {
    return this.first<{ environmentId: number; domainId: Id }>(RECEIVING, [host]);
  }

  ofEnvironment(environmentId: number, id: Id): Promise<{ domain: string } | null> {
    return this.first<{ domain: string }>(OF_ENVIRONMENT, [environmentId, id]);
  }

  private async sendingOf(asked: readonly { environmentId: number; host: string }[]): Promise<(SendingRow | null)[]> {
    const rows = await this.database.queryPrepared<SendingRow & { place: number }>(SENDING, [
      intArray(asked.map(({ environmentId }) => environmentId)),
      textArray(asked.map(({ host }) => host)),
    ]);
    const found = new Map(rows.map(({ place, ...row }) => [place, row]));
    return asked.map((_, place) => found.get(place) ?? null);
  }

  private first<R>(statement: Statement, values: readonly unknown[]): Promise<R | null> {
    return storedOr503(async () => (await this.database.query<R>(statement, values))[0] ?? null);
  }
}

async function storedOr503<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isStorageAway(error)) throw unavailable('The service cannot reach its database. Send the request again.');
    throw error;
  }
}
