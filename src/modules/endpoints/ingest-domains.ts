import { Injectable } from '@nestjs/common';
import { Environments } from '#modules/auth/contract.js';
import { Config } from '#kernel/config.js';
import type { Fault } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type AddressBase, ingestHost, receiveUrl } from './receive-url.js';

/** A host on which an environment's endpoints receive. */
export interface IngestDomain {
  id: Id;
  host: string;
  kind: 'platform';
}

/** An ingest domain with what URLs on it begin with, the slash before an endpoint's slug included. */
export interface ListedIngestDomain extends IngestDomain {
  isDefault: boolean;
  prefix: string;
}

/** The platform's host is the same thing in every installation. */
const PLATFORM_ID: Id = '00000000-0000-0000-0000-000000000001';

/** Where an environment can receive. */
@Injectable()
export class IngestDomains {
  constructor(
    private readonly config: Config,
    private readonly environments: Environments,
  ) {}

  async list(tenant: Tenant): Promise<ListedIngestDomain[]> {
    const { baseUrl, organizationSlug } = await this.addressBase(tenant);
    return [{ ...this.platform(), isDefault: true, prefix: `${receiveUrl(baseUrl, organizationSlug)}/` }];
  }

  /** The host of BASE_URL. */
  platform(): IngestDomain {
    return { id: PLATFORM_ID, host: ingestHost(this.config.baseUrl), kind: 'platform' };
  }

  /** The URL of an endpoint on the platform's host. */
  urlOf(path: string): string {
    return receiveUrl(this.config.baseUrl, path);
  }

  /** What addresses of the tenant's endpoints are relative to. */
  async addressBase(tenant: Tenant): Promise<AddressBase> {
    const { organizationSlug } = await this.environments.get(tenant.environmentId);
    return { baseUrl: this.config.baseUrl, organizationSlug };
  }

  /** What is wrong with a caller's choice of a domain; null chooses the platform's. */
  faults(domainId: string | null): Fault[] {
    const isKnown = domainId === null || parseId('pdom', domainId) === PLATFORM_ID;
    return isKnown ? [] : [{ path: 'domainId', message: 'There is no such domain.' }];
  }
}
