import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { CLOSED } from '#engine/circuit.js';
import { Database } from '#kernel/database.js';
import { conflict, type Fault, invalid, notFound } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { CircuitsStore } from './circuits.store.js';
import type { DestinationEntity, Validation } from './destinations.entities.js';
import { DestinationsStore } from './destinations.store.js';
import { HeaderSecrets } from './header-secrets.js';
import { Reachability } from './reachability.js';
import { changed, movesTarget, settingsFaults, settingsOf, type SettingsChanges } from './settings.js';

/** What a caller changes. */
export interface DestinationChanges {
  settings: SettingsChanges;
  status?: 'active' | 'disabled';
}

/** A probe that was made for the settings of this version. */
interface Probed {
  version: number;
  validation: Validation;
}

const DISABLED_BY_CALLER = 'Disabled through the API.';

/** Changes and removes destinations. */
@Injectable()
export class Changes {
  constructor(
    private readonly store: DestinationsStore,
    private readonly reachability: Reachability,
    private readonly circuits: CircuitsStore,
    private readonly headerSecrets: HeaderSecrets,
    private readonly database: Database,
  ) {}

  /**
   * A change of where the destination is, or how its type connects, is probed before it is stored. Setting the status
   * to active also closes the circuit. Throws 404, and 422 with the check that failed, and changes nothing then.
   */
  async update(tenant: Tenant, id: Id, changes: DestinationChanges): Promise<DestinationEntity> {
    const found = await this.store.find(tenant.environmentId, id);
    if (found === null) throw notFound('destination');
    const settings = changed(settingsOf(found), changes.settings);
    const faults = [...settingsFaults(settings), ...await this.headerFaults(tenant, changes.settings.headers)];
    if (faults.length > 0) throw invalid(faults);
    const probed = movesTarget(found, settings) ? await this.probe({ ...found, ...settings }) : null;
    return this.database.transaction(() => this.apply(tenant, id, changes, probed));
  }

  /** Throws 404 when there is none, also the second time. What waits for it is settled by the deliveries. */
  async remove(tenant: Tenant, id: Id): Promise<void> {
    await this.database.transaction(async () => {
      if (!(await this.store.remove(tenant.environmentId, id))) throw notFound('destination');
      await this.headerSecrets.release(tenant.environmentId, id);
      await this.circuits.change(tenant.environmentId, id, () => CLOSED);
    });
  }

  /** Headers that the call leaves as they are must not stand in the way of anything else that it changes. */
  private async headerFaults(tenant: Tenant, headers: SettingsChanges['headers']): Promise<Fault[]> {
    return headers ? this.headerSecrets.faults(tenant.environmentId, headers) : [];
  }

  private async probe(row: DestinationEntity): Promise<Probed> {
    return { version: row.version, validation: await this.reachability.admit(this.reachability.draft(row)) };
  }

  /** Under the row's lock, so that calls at the same time that change different things all take effect. */
  private async apply(tenant: Tenant, id: Id, { settings: given, status }: DestinationChanges, probed: Probed | null): Promise<DestinationEntity> {
    const row = await this.store.findForUpdate(tenant.environmentId, id);
    if (row === null) throw notFound('destination');
    if (probed && probed.version !== row.version) {
      throw conflict('Another call changed the destination while this one was probing it. Read it and try again.');
    }
    const settings = changed(settingsOf(row), given);
    const next = { ...settings, ...(probed && { validation: probed.validation }), ...(status && statusColumns(row, status)) };
    if (status === 'active') await this.circuits.change(tenant.environmentId, id, () => CLOSED);
    if (isDeepStrictEqual({ ...row, ...next }, { ...row })) return row;
    const version = row.version + 1;
    const write = (): Promise<void> => this.store.update(tenant.environmentId, id, { ...next, version });
    await (given.headers === undefined ? write() : this.headerSecrets.using(tenant.environmentId, id, next.headers, write));
    return { ...row, ...next, version };
  }
}

function statusColumns(row: DestinationEntity, status: 'active' | 'disabled'): Pick<DestinationEntity, 'status' | 'disabledReason'> {
  if (status === 'active') return { status, disabledReason: null };
  return { status, disabledReason: row.status === 'disabled' ? row.disabledReason : DISABLED_BY_CALLER };
}
