import { Injectable } from '@nestjs/common';
import { invalid } from '#kernel/errors.js';
import { Ids, idTimeMs } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { DestinationSecrets } from './destination-secrets.js';
import type { DestinationEntity } from './destinations.entities.js';
import { DestinationsStore } from './destinations.store.js';
import { HeaderSecrets } from './header-secrets.js';
import { Reachability } from './reachability.js';
import { adapterConfig, changed, DEFAULT_SETTINGS, settingsFaults, type SettingsChanges } from './settings.js';

/** A destination that a caller asks for. */
export interface NewDestination {
  name: string;
  type: string;
  settings: SettingsChanges;
  credentials: Record<string, string> | null;
  /** `whsec_…` when its owner brings one. */
  secret: string | null;
}

/** Registers destinations: checked, probed, and only then stored. */
@Injectable()
export class Registration {
  constructor(
    private readonly store: DestinationsStore,
    private readonly reachability: Reachability,
    private readonly secrets: DestinationSecrets,
    private readonly headerSecrets: HeaderSecrets,
    private readonly ids: Ids,
  ) {}

  /** Throws 422 with the check that failed, and stores nothing then. */
  async create(tenant: Tenant, { name, type, settings: given, credentials, secret }: NewDestination): Promise<DestinationEntity> {
    const settings = changed({ ...DEFAULT_SETTINGS, name }, given);
    const place = { environmentId: tenant.environmentId, id: this.ids.next() };
    const columns = this.secrets.begin(place, secret);
    const faults = [...settingsFaults(settings), ...await this.headerSecrets.faults(tenant.environmentId, settings.headers)];
    if (faults.length > 0) throw invalid(faults);
    const validation = await this.reachability.admit({ type, url: settings.url, config: adapterConfig(settings.config), credentials });
    const now = new Date(idTimeMs(place.id));
    const row: DestinationEntity = {
      ...place,
      ...settings,
      ...columns,
      type,
      credentials: this.secrets.sealCredentials(place, credentials),
      validation,
      status: 'active',
      disabledReason: null,
      version: 1,
      createdAt: now,
      updatedAt: now,
    };
    await this.headerSecrets.using(place.environmentId, place.id, row.headers, () => this.store.insert(row));
    return row;
  }
}
