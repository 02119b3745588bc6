import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import type { Fault } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { type CustomHost, CustomHosts } from '#modules/domains/contract.js';
import { type AddressBase, customUrl, ingestHost, receiveUrl } from './receive-url.js';

export interface IngestDomain {
  id: Id;
  host: string;
  kind: 'platform' | 'custom';
}

export interface ChosenDomain {
  /** Id of the custom domain. `null` for the platform's host. */
  domainId: Id | null;
  base: AddressBase;
  faults: Fault[];
}

/** An ingest domain in a list. `prefix` is the beginning of its endpoints' URLs, up to the slash before the slug. */
export interface ListedIngestDomain extends IngestDomain {
  isDefault: boolean;
  prefix: string;
}

/** Id of the platform's host. It is the same in every installation. */
const PLATFORM_ID: Id = '00000000-0000-0000-0000-000000000001';

@Injectable()
export class IngestDomains {
  constructor(
    private readonly config: Config,
    private readonly environments: Environments,
    private readonly customHosts: CustomHosts,
  ) {}

  async list(tenant: Tenant): Promise<ListedIngestDomain[]> {
    const { baseUrl, organizationSlug } = await this.addressBase(tenant);
    const custom = (await this.customHosts.ofEnvironment(tenant.environmentId)).filter(({ isServing }) => isServing);
    return [
      { ...this.platform(), isDefault: true, prefix: `${receiveUrl(baseUrl, organizationSlug)}/` },
      ...custom.map((host) => ({ ...shown(host), isDefault: false, prefix: customUrl(host.host, '') })),
    ];
  }

  /** Domain name to which customers' DNS records point. */
  get platformDomain(): string {
    return this.config.platformDomain;
  }

  platform(): IngestDomain {
    return { id: PLATFORM_ID, host: ingestHost(this.config.baseUrl), kind: 'platform' };
  }

  /** Returns domains by id. Ignores null, which stands for the platform's host. */
  async findMany(environmentId: number, domainIds: readonly (Id | null)[]): Promise<ReadonlyMap<Id, IngestDomain>> {
    if (domainIds.every((id) => id === null)) return NONE;
    return new Map((await this.customHosts.ofEnvironment(environmentId)).map((host) => [host.domainId, shown(host)]));
  }

  urlOf({ kind, host }: IngestDomain, path: string): string {
    return kind === 'platform' ? receiveUrl(this.config.baseUrl, path) : customUrl(host, path);
  }

  /**
   * Returns the domain with an id or with a URL's host. Defaults to the platform's host. Reports an unverified domain
   * in `faults`.
   */
  async choose(
    tenant: Tenant,
    { domainId, url }: { domainId?: string | null; url?: string | null },
  ): Promise<ChosenDomain> {
    const base = await this.addressBase(tenant);
    const isPlatform = domainId !== undefined && domainId !== null && parseId('pdom', domainId) === PLATFORM_ID;
    const host = hostIn(url);
    const isNamed = domainId !== undefined && domainId !== null;
    if (isPlatform || (!isNamed && (host === null || host === ingestHost(this.config.baseUrl))))
      return { domainId: null, base, faults: [] };
    const hosts = await this.customHosts.ofEnvironment(tenant.environmentId);
    const found = isNamed
      ? hosts.find((each) => each.domainId === parseId('dom', domainId))
      : hosts.find((each) => each.host === host);
    // An unknown host in the URL is reported later, when the URL is parsed.
    if (found === undefined)
      return {
        domainId: null,
        base,
        faults: isNamed ? [{ path: 'domainId', message: 'There is no such domain.' }] : [],
      };
    const path = isNamed ? 'domainId' : 'url';
    const faults = found.isServing
      ? []
      : [
          {
            path,
            message: `${found.host} is not verified: publish its records first, see GET /v1/domains/${showId('dom', found.domainId)}`,
          },
        ];
    return { domainId: found.domainId, base: { ...base, customHost: found.host }, faults };
  }

  private async addressBase(tenant: Tenant): Promise<AddressBase> {
    const { organizationSlug } = await this.environments.get(tenant.environmentId);
    return { baseUrl: this.config.baseUrl, organizationSlug };
  }
}

const NONE: ReadonlyMap<Id, IngestDomain> = new Map();

function shown({ domainId, host }: CustomHost): IngestDomain {
  return { id: domainId, host, kind: 'custom' };
}

/** Returns the host with its port, as URLs show it. `null` for text that is not a URL. */
function hostIn(url: string | null | undefined): string | null {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : null;
}
