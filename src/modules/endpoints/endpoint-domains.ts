import { Injectable } from '@nestjs/common';
import { type Id, showId } from '#kernel/ids.js';
import { DomainUsers } from '#modules/domains/contract.js';
import { EndpointsStore } from './endpoints.store.js';

const USERS_MAX = 100;

/** Lists the endpoints that use a domain. A domain with endpoints cannot be deleted. */
@Injectable()
export class EndpointDomains extends DomainUsers {
  constructor(private readonly store: EndpointsStore) {
    super();
  }

  override async usersOf(environmentId: number, domainId: Id): Promise<string[]> {
    return (await this.store.onDomain(environmentId, domainId, USERS_MAX)).map((id) => showId('ep', id));
  }
}
