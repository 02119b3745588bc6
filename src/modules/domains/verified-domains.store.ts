import { Injectable } from '@nestjs/common';
import { Database, isStorageAway, type Statement } from '#kernel/database.js';
import { unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';

/** What mail that leaves needs to know of a domain. */
export interface SendingRow {
  id: Id;
  domain: string;
  isReturnPathSeen: boolean;
}

const SENDING: Statement = {
  name: 'domains.sending',
  // Index domains_host_idx.
  text: `
    select id, host as domain, return_path_seen as "isReturnPathSeen" from domains
    where environment_id = $1::int and host = $2 and is_owner and sending_enabled`,
};

const RECEIVING: Statement = {
  name: 'domains.receiving',
  // Index domains_owner_idx: a host has one owner.
  text: `
    select environment_id as "environmentId", id as "domainId" from domains
    where host = $1 and is_owner and receiving_enabled and kind = 'email'`,
};

const OF_ENVIRONMENT: Statement = {
  name: 'domains.of_environment',
  // Index domains_pkey. The lock holds off a conversion and a removal until the caller's transaction ends.
  text: `
    select host as domain from domains
    where environment_id = $1::int and id = $2::uuid and is_owner and receiving_enabled and kind = 'email' for share`,
};

/** What others need to know of domains that have proved whose they are. */
@Injectable()
export class VerifiedDomainsStore {
  constructor(private readonly database: Database) {}

  /** Throws 503 while storage is away. */
  sending(environmentId: number, host: string): Promise<SendingRow | null> {
    return this.first<SendingRow>(SENDING, [environmentId, host]);
  }

  receiving(host: string): Promise<{ environmentId: number; domainId: Id } | null> {
    return this.first<{ environmentId: number; domainId: Id }>(RECEIVING, [host]);
  }

  ofEnvironment(environmentId: number, id: Id): Promise<{ domain: string } | null> {
    return this.first<{ domain: string }>(OF_ENVIRONMENT, [environmentId, id]);
  }

  private async first<R>(statement: Statement, values: readonly unknown[]): Promise<R | null> {
    try {
      const [row] = await this.database.query<R>(statement, values);
      return row ?? null;
    } catch (error) {
      if (isStorageAway(error)) throw unavailable('The service cannot reach its database. Send the request again.');
      throw error;
    }
  }
}
