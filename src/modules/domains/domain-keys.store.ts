import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Database } from '#kernel/database/database.js';
import { TenantRepository } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { DomainDkimKeyEntity } from './domains.entities.js';

/** Stores the DKIM keys of domains. Every query uses the index domain_dkim_keys_pkey. */
@Injectable()
export class DomainKeysStore {
  private readonly rows: TenantRepository<DomainDkimKeyEntity>;

  constructor(database: Database) {
    this.rows = new TenantRepository(database, DomainDkimKeyEntity);
  }

  /** Returns the DKIM keys of several domains, ordered by selector. */
  ofDomains(environmentId: number, domainIds: readonly Id[]): Promise<DomainDkimKeyEntity[]> {
    return this.rows.find({ where: { environmentId, domainId: In([...domainIds]) }, order: { selector: 'ASC' } });
  }

  /** Deletes the domain's keys. The caller must hold the lock on the domain's row. */
  async removeAll(environmentId: number, domainId: Id): Promise<void> {
    await this.rows.delete({ environmentId, domainId });
  }

  async insertAll(keys: readonly DomainDkimKeyEntity[]): Promise<void> {
    await this.rows.insertAll(keys);
  }
}
