import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { CustomHost } from './contract.js';

const COLUMNS = `environment_id as "environmentId", id as "domainId", host, is_owner and receiving_enabled as "isServing"`;

const SERVING: Statement = {
  name: 'custom_hosts.serving',
  // Uses the index domains_webhook_idx.
  text: `select ${COLUMNS} from domains where kind = 'webhook' and is_owner and receiving_enabled`,
};

const OF_ENVIRONMENT: Statement = {
  name: 'custom_hosts.of_environment',
  // Uses the index domains_webhook_idx.
  text: `select ${COLUMNS} from domains where kind = 'webhook' and environment_id = $1::int order by id`,
};

const ONE: Statement = {
  name: 'custom_hosts.one',
  // Uses the index domains_pkey.
  text: `select ${COLUMNS} from domains where kind = 'webhook' and environment_id = $1::int and id = $2::uuid`,
};

@Injectable()
export class CustomHostsStore {
  constructor(private readonly database: Database) {}

  serving(): Promise<CustomHost[]> {
    return this.database.query<CustomHost>(SERVING);
  }

  /** Returns hosts in order of creation, verified or not. */
  ofEnvironment(environmentId: number): Promise<CustomHost[]> {
    return this.database.query<CustomHost>(OF_ENVIRONMENT, [environmentId]);
  }

  async one(environmentId: number, domainId: Id): Promise<CustomHost | null> {
    const [row] = await this.database.query<CustomHost>(ONE, [environmentId, domainId]);
    return row ?? null;
  }
}
