import { Injectable } from '@nestjs/common';
import { Config, ConfigError } from '#kernel/config/config.js';
import { DOMAINS_REQUIRED, lacksDomains } from '#kernel/config/oidc-provider.js';
import { Database } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { hashApiKey, keyMode } from '../keys/api-key.js';
import { KeyIssuer } from '../keys/key-issuer.js';
import { KeysStore } from '../keys/keys.store.js';
import { OrganizationFounder } from './organization-founder.js';
import { OrganizationsStore } from './own-organization.store.js';

type Modes = Record<'live' | 'test', string>;

/** Creates the data of a new installation. A lock ensures that only one of several starting processes creates it. */
@Injectable()
export class FirstStart {
  constructor(
    private readonly config: Config,
    private readonly database: Database,
    private readonly founder: OrganizationFounder,
    private readonly keys: KeysStore,
    private readonly issuer: KeyIssuer,
    private readonly organizations: OrganizationsStore,
  ) {}

  /**
   * Creates the first organization with its two environments, and the key in BOOTSTRAP_API_KEY, unless they exist.
   * Returns the generated admin keys, which must be shown once. Returns `null` if BOOTSTRAP_API_KEY is set, and on each
   * later start. Safe to run in several processes at the same time.
   */
  async run(): Promise<Modes | null> {
    const { bootstrapApiKey } = this.config;
    return this.database.transaction(async () => {
      const { organizationId, isNew } = await this.founder.firstOrganization();
      if (lacksDomains(this.config.oidc) && (await this.organizations.hasSeveral()))
        throw new ConfigError(DOMAINS_REQUIRED);
      if (bootstrapApiKey !== null) {
        await this.bootstrap(organizationId, bootstrapApiKey);
        return null;
      }
      return isNew
        ? { live: await this.issue(organizationId, 'live'), test: await this.issue(organizationId, 'test') }
        : null;
    });
  }

  /**
   * Stores the key in BOOTSTRAP_API_KEY if the key has no row yet. A revoked key keeps its row, so it is not created
   * again.
   */
  private async bootstrap(organizationId: Id, text: string): Promise<void> {
    if (!(await this.keys.exists(hashApiKey(text)))) await this.issue(organizationId, keyMode(text), text);
  }

  private async issue(organizationId: Id, mode: 'live' | 'test', text?: string): Promise<string> {
    const environmentId = await this.keys.environmentOf(organizationId, mode);
    const name = text === undefined ? 'First key' : 'Bootstrap key';
    const issued = await this.issuer.issue(
      { environmentId, mode, name, scope: 'admin', source: 'bootstrap', expiresAt: null },
      text,
    );
    return issued.text;
  }
}
