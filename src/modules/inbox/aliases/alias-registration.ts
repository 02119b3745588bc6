import { Injectable } from '@nestjs/common';
import { platformAddress, readLocalPart } from '#engine/mail/alias-address.js';
import { Config } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { badRequest, conflict, invalid } from '#kernel/errors.js';
import { type Id, Ids, idTimeMs, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { ReceivingDomains } from '#modules/domains/verified-domains.js';
import { ForwardAddresses } from '../actions/forward-addresses.js';
import type { AliasEntity } from '../inbox.entities.js';
import { type AliasSettings, AliasSettingsReader } from './alias-settings.js';
import { AliasesStore } from './aliases.store.js';

export interface NewAlias {
  kind: 'platform' | 'custom';
  /** Domain (`dom_…`) of a custom alias. Null for a platform alias. */
  domainId: string | null;
  localPart: string;
  settings: AliasSettings;
}

const ALIASES_MAX = 10_000;
const NOT_RECEIVING = 'There is no such domain that receives mail: it must be of kind email, and verified.';

@Injectable()
export class AliasRegistration {
  constructor(
    private readonly store: AliasesStore,
    private readonly settings: AliasSettingsReader,
    private readonly domains: ReceivingDomains,
    private readonly environments: Environments,
    private readonly forwardAddresses: ForwardAddresses,
    private readonly database: Database,
    private readonly config: Config,
    private readonly ids: Ids,
  ) {}

  /**
   * Creates an alias. Throws 400 for an invalid address, 422 for invalid settings, and 409 if the address is in use or
   * there are too many aliases.
   */
  async create(
    tenant: Tenant,
    { kind, domainId: shownDomain, localPart: text, settings }: NewAlias,
  ): Promise<AliasEntity> {
    const { environmentId } = tenant;
    const read = readLocalPart(text, kind);
    if ('fault' in read) throw badRequest(`localPart ${read.fault}.`, { field: 'localPart' });
    const domainId = domainOf(kind, shownDomain);
    const columns = await this.settings.read(environmentId, settings);
    const id = this.ids.next();
    const now = new Date(idTimeMs(id));
    const rest = {
      destinationIds: [],
      filters: {},
      allowedSenders: [],
      maxSizeBytes: null,
      forwardTo: [],
      autoReply: null,
      linkTtlSeconds: null,
      ...columns,
      version: 1,
      createdAt: now,
      updatedAt: now,
      removedAt: null,
    };
    return this.database.transaction(async () => {
      const address =
        domainId === null
          ? await this.platform(tenant, read.localPart)
          : await this.custom(environmentId, domainId, read.localPart);
      await this.makeRoom(environmentId);
      const row: AliasEntity = { environmentId, id, kind, domainId, localPart: read.localPart, address, ...rest };
      if (!(await this.store.insert(row))) {
        throw conflict(
          `${address} is already an alias, in this environment or in the organization's other one. Use that alias, or another name.`,
          { address },
        );
      }
      await this.forwardAddresses.request(environmentId, row.forwardTo);
      return row;
    });
  }

  /** Returns the address, built from the organization's current slug. It stays the same when the slug changes later. */
  private async platform({ environmentId }: Tenant, label: string): Promise<string> {
    const { organizationSlug } = await this.environments.get(environmentId);
    const computed = platformAddress(label, organizationSlug, this.config.platformDomain);
    if ('fault' in computed) throw badRequest(`localPart ${computed.fault}.`, { field: 'localPart' });
    return computed.address;
  }

  /**
   * Returns the alias's address. Locks the domain for the transaction, so that no other request removes the domain or
   * changes its kind.
   */
  private async custom(environmentId: number, domainId: Id, localPart: string): Promise<string> {
    const domain = await this.domains.ofEnvironment(environmentId, domainId);
    if (domain === null) throw invalid([{ path: 'domainId', message: NOT_RECEIVING }]);
    return `${localPart}@${domain.domain}`;
  }

  private async makeRoom(environmentId: number): Promise<void> {
    await this.store.lock(environmentId);
    if ((await this.store.count(environmentId)) >= ALIASES_MAX)
      throw conflict(`An environment has at most ${ALIASES_MAX} aliases. Delete one first.`, { limit: ALIASES_MAX });
  }
}

/** Returns the domain id of a custom alias, or null for a platform alias. Throws 422 for an invalid domain. */
function domainOf(kind: NewAlias['kind'], shown: string | null): Id | null {
  if (kind === 'platform') {
    if (shown !== null)
      throw invalid([
        { path: 'domainId', message: "must be left out of a platform alias, whose domain is the platform's" },
      ]);
    return null;
  }
  if (shown === null)
    throw invalid([
      { path: 'domainId', message: 'is required for a custom alias: the id of your domain that receives its mail' },
    ]);
  const id = parseId('dom', shown);
  if (id === null) throw invalid([{ path: 'domainId', message: NOT_RECEIVING }]);
  return id;
}
