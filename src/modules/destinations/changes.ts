import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { CLOSED } from '#engine/circuit.js';
import { placeholderFaults } from '#kernel/crypto/sensitive-headers.js';
import { Database } from '#kernel/database/database.js';
import { conflict, type Fault, invalid, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { shownTarget } from '#modules/destinations/contract.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { CircuitsStore } from './circuits.store.js';
import { DestinationSecrets, legacyKeyFaults } from './destination-secrets.js';
import { DestinationUsers } from './destination-users.js';
import type { DestinationEntity, Validation } from './destinations.entities.js';
import { DestinationsStore, type Whose } from './destinations.store.js';
import { HeaderSecrets } from './header-secrets.js';
import { secretNames } from './header-templates.js';
import { Reachability } from './reachability.js';
import { RetryRetention } from './retry-retention.js';
import { changed, forwardFaults, movesTarget, type SettingsChanges, settingsFaults, settingsOf } from './settings.js';

export interface DestinationChanges {
  settings: SettingsChanges;
  /** New credentials, which replace all stored credentials. `null` removes the stored credentials. */
  credentials?: Record<string, string> | null;
  status?: 'active' | 'disabled';
  /** Reason for disabling the destination. Defaults to a sentence which states that the API disabled it. */
  reason?: string;
}

interface Probed {
  version: number;
  validation: Validation;
}

const USERS_SHOWN_MAX = 100;
const DISABLED_BY_CALLER = 'Disabled through the API.';

@Injectable()
export class Changes {
  constructor(
    private readonly store: DestinationsStore,
    private readonly reachability: Reachability,
    private readonly secrets: DestinationSecrets,
    private readonly headerSecrets: HeaderSecrets,
    private readonly circuits: CircuitsStore,
    private readonly database: Database,
    private readonly systemEvents: SystemEvents,
    private readonly users: DestinationUsers,
    private readonly retention: RetryRetention,
  ) {}

  /**
   * Changes a destination. A new address, connection settings or credentials are probed before they are stored, unless
   * an application's endpoint owns the destination. Setting the status to active also closes the circuit. Throws 404
   * for an unknown destination, and 422 with the failed check. If it throws, nothing is changed.
   */
  async update(
    tenant: Tenant,
    id: Id,
    changes: DestinationChanges,
    whose: Whose = 'listed',
  ): Promise<DestinationEntity> {
    const found = await this.store.find(tenant.environmentId, id, whose);
    if (found === null) throw noSuch('destination');
    const settings = changed(settingsOf(found), changes.settings);
    const faults = [
      ...settingsFaults(settings),
      ...forwardFaults(found.type, settings),
      ...legacyKeyFaults(settings, changes.settings, found.legacySecret),
      ...(await this.headerFaults(tenant, changes.settings.headers)),
      ...(changes.settings.retry ? await this.retention.faults(tenant.environmentId, settings.retry) : []),
    ];
    if (faults.length > 0) throw invalid(faults);
    const { credentials } = changes;
    const isMoved = movesTarget(found, settings) || credentials !== undefined;
    const probed = isMoved ? await this.probe({ ...found, ...settings }, credentials) : null;
    return this.database.transaction(() => this.apply(tenant, id, changes, probed, whose));
  }

  /**
   * Deletes a destination. Throws 404 if it does not exist, and 409 while it is in use. The delivery module ends the
   * destination's waiting deliveries.
   */
  async remove(environmentId: number, id: Id, whose: Whose = 'listed'): Promise<void> {
    await this.database.transaction(async () => {
      if ((await this.store.findForUpdate(environmentId, id, whose)) === null) throw noSuch('destination');
      if (whose === 'listed') await this.refuseWhileUsed(environmentId, id);
      await this.store.remove(environmentId, id);
      await this.headerSecrets.release(environmentId, id);
      await this.circuits.change(environmentId, id, () => CLOSED);
    });
  }

  private async refuseWhileUsed(environmentId: number, id: Id): Promise<void> {
    const users = await this.users.list(environmentId, id, USERS_SHOWN_MAX);
    if (users.length === 0) return;
    throw conflict('Something still sends to this destination. Remove it there first, see details.used_by.', {
      used_by: users,
    });
  }

  async removeAllOf(environmentId: number, ownerId: Id): Promise<Id[]> {
    return this.database.transaction(async () => {
      const removed = await this.store.removeOwned(environmentId, ownerId);
      for (const { id, headers } of removed) {
        if (secretNames(headers).length > 0) await this.headerSecrets.release(environmentId, id);
      }
      return removed.map(({ id }) => id);
    });
  }

  /**
   * Returns the errors in new headers. Unchanged headers are not checked, so that old errors do not block other
   * changes.
   */
  private async headerFaults(tenant: Tenant, headers: SettingsChanges['headers']): Promise<Fault[]> {
    return headers
      ? [...placeholderFaults(headers), ...(await this.headerSecrets.faults(tenant.environmentId, headers))]
      : [];
  }

  private async probe(row: DestinationEntity, credentials: DestinationChanges['credentials']): Promise<Probed> {
    const stored = this.reachability.draft(row);
    const draft = credentials === undefined ? stored : { ...stored, credentials };
    return {
      version: row.version,
      validation: row.ownerId ? this.reachability.admitUnprobed(draft) : await this.reachability.admit(draft),
    };
  }

  /** Applies the changes under the row lock, so that concurrent calls do not overwrite each other's settings. */
  private async apply(
    tenant: Tenant,
    id: Id,
    changes: DestinationChanges,
    probed: Probed | null,
    whose: Whose,
  ): Promise<DestinationEntity> {
    const { settings: given, credentials, status, reason } = changes;
    const row = await this.store.findForUpdate(tenant.environmentId, id, whose);
    if (row === null) throw noSuch('destination');
    if (probed && probed.version !== row.version) {
      throw conflict('Another call changed the destination while this one was probing it. Read it and try again.');
    }
    const settings = changed(settingsOf(row), given);
    const faults = [...settingsFaults(settings), ...legacyKeyFaults(settings, given, row.legacySecret)];
    // A concurrent call may have changed other settings since the first check, so the combination may be invalid.
    if (faults.length > 0) throw invalid(faults);
    const next = {
      ...settings,
      ...this.secrets.following(row, settings, given),
      ...(credentials !== undefined && { credentials: this.secrets.sealCredentials(row, credentials) }),
      ...(probed && { validation: probed.validation }),
      ...(status && statusColumns(row, status, reason)),
    };
    if (status === 'active') await this.circuits.change(tenant.environmentId, id, () => CLOSED);
    if (isDeepStrictEqual({ ...row, ...next }, { ...row })) return row;
    const version = row.version + 1;
    const write = (): Promise<void> => this.store.update(tenant.environmentId, id, { ...next, version });
    await (given.headers === undefined
      ? write()
      : this.headerSecrets.using(tenant.environmentId, id, next.headers, write));
    const changedRow = { ...row, ...next, version };
    if (changedRow.status !== row.status) await this.noteStatus(changedRow);
    return changedRow;
  }

  private async noteStatus(row: DestinationEntity): Promise<void> {
    const { environmentId, id, status, disabledReason } = row;
    const signal = { environmentId, subject: id };
    if (status === 'active') {
      await this.systemEvents.note({
        ...signal,
        type: 'destination.enabled',
        details: { ...shownTarget(row), by: 'api' },
      });
    } else {
      await this.systemEvents.note({
        ...signal,
        type: 'destination.disabled',
        details: { ...shownTarget(row), reason: disabledReason, by: 'api' },
      });
    }
  }
}

function statusColumns(
  row: DestinationEntity,
  status: 'active' | 'disabled',
  reason = DISABLED_BY_CALLER,
): Pick<DestinationEntity, 'status' | 'disabledReason'> {
  if (status === 'active') return { status, disabledReason: null };
  return { status, disabledReason: row.status === 'disabled' ? row.disabledReason : reason };
}
