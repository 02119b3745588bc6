import { Injectable } from '@nestjs/common';
import { type Id, showId } from '#kernel/ids.js';
import { DomainUsers } from '#modules/domains/contract.js';
import { AliasesStore } from './aliases.store.js';

const USERS_MAX = 100;

/** Lists the aliases that receive mail on a domain. Such a domain cannot be deleted, and its kind cannot be changed. */
@Injectable()
export class AliasDomains extends DomainUsers {
  constructor(private readonly store: AliasesStore) {
    super();
  }

  override async usersOf(environmentId: number, domainId: Id): Promise<string[]> {
    return (await this.store.onDomain(environmentId, domainId, USERS_MAX)).map(({ id }) => showId('al', id));
  }
}
