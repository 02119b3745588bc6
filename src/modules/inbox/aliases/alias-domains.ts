import { Injectable } from '@nestjs/common';
import { type Id, showId } from '#kernel/ids.js';
import { DomainUsers } from '#modules/domains/contract.js';
import { AliasesStore } from './aliases.store.js';

const USERS_MAX = 100;

/** Tells which aliases receive on a domain: it is neither deleted nor converted under them. */
@Injectable()
export class AliasDomains extends DomainUsers {
  constructor(private readonly store: AliasesStore) {
    super();
  }

  override async usersOf(environmentId: number, domainId: Id): Promise<string[]> {
    return (await this.store.onDomain(environmentId, domainId, USERS_MAX)).map(({ id }) => showId('al', id));
  }
}
