import { Injectable } from '@nestjs/common';
import { DEFAULT_FORWARDING } from '#engine/inbound/forwarded-url.js';
import { placeholderFaults } from '#kernel/crypto/sensitive-headers.js';
import { invalid } from '#kernel/errors.js';
import { type Id, Ids, idTimeMs } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { DestinationSecrets, legacyKeyFaults } from './destination-secrets.js';
import type { DestinationEntity } from './destinations.entities.js';
import { DestinationsStore } from './destinations.store.js';
import { HeaderSecrets } from './header-secrets.js';
import { Reachability } from './reachability.js';
import { RetryRetention } from './retry-retention.js';
import {
  adapterConfig,
  changed,
  DEFAULT_SETTINGS,
  forwardFaults,
  type SettingsChanges,
  settingsFaults,
} from './settings.js';

export interface NewDestination {
  name: string;
  type: string;
  settings: SettingsChanges;
  credentials: Record<string, string> | null;
  /** Signing secret that the owner already has, in the form `whsec_…`. If null, a secret is generated. */
  secret: string | null;
}

export interface Ownership {
  id: Id;
  ownerId: Id;
}

/** Creates destinations. Each destination is validated and probed before it is stored. */
@Injectable()
export class Registration {
  constructor(
    private readonly store: DestinationsStore,
    private readonly reachability: Reachability,
    private readonly secrets: DestinationSecrets,
    private readonly headerSecrets: HeaderSecrets,
    private readonly ids: Ids,
    private readonly retention: RetryRetention,
  ) {}

  /** Creates and returns a destination. Probes the target, unless `owned` is set. Throws 422 with the failed check. */
  async create(tenant: Tenant, asked: NewDestination, owned: Ownership | null = null): Promise<DestinationEntity> {
    const { name, type, settings: given, credentials, secret } = asked;
    const settings = changed({ ...DEFAULT_SETTINGS, name }, given);
    const place = { environmentId: tenant.environmentId, id: owned?.id ?? this.ids.next() };
    const columns = this.secrets.begin(place, secret, settings, given);
    const faults = [
      ...settingsFaults(settings),
      ...forwardFaults(type, settings),
      ...legacyKeyFaults(settings, given, null),
      ...placeholderFaults(settings.headers),
      ...(await this.headerSecrets.faults(tenant.environmentId, settings.headers)),
      ...(given.retry ? await this.retention.faults(tenant.environmentId, settings.retry) : []),
    ];
    if (faults.length > 0) throw invalid(faults);
    const forward = settings.forward ?? DEFAULT_FORWARDING;
    const draft = { type, url: settings.url, config: adapterConfig(settings.config), credentials, forward };
    const validation = owned ? this.reachability.admitUnprobed(draft) : await this.reachability.admit(draft);
    const now = new Date(idTimeMs(place.id));
    const row: DestinationEntity = {
      ...place,
      ...settings,
      ...columns,
      ownerId: owned?.ownerId ?? null,
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
