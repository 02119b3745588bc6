import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { conflict, type Fault, invalid, noSuch } from '#kernel/errors.js';
import { type Id, Ids, idTimeMs } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { SealedSecrets } from './sealed-secrets.js';
import { showUser } from './secret-users.js';
import { SecretUsesStore } from './secret-uses.store.js';
import { headerValueFaults, valueFaults } from './secret-values.js';
import type { SecretEntity } from './secrets.entities.js';
import { type SecretView, USERS_SHOWN_MAX } from './secrets.service.js';
import { SecretsStore } from './secrets.store.js';

export interface NewSecret {
  name: string;
  value: string;
  description: string | null;
}

/** Changes to a secret. Omitted fields keep their values. A null description removes the description. */
export interface SecretChanges {
  value?: string;
  description?: string | null;
}

const SECRETS_MAX = 1_000;

@Injectable()
export class SecretKeeper {
  constructor(
    private readonly store: SecretsStore,
    private readonly uses: SecretUsesStore,
    private readonly sealed: SealedSecrets,
    private readonly database: Database,
    private readonly ids: Ids,
  ) {}

  /** Creates a secret. Throws 422 for an invalid value, and 409 if the name exists or there are too many secrets. */
  async create(tenant: Tenant, { name, value, description }: NewSecret): Promise<SecretEntity> {
    refuse(valueFaults(value));
    return this.database.transaction(async () => {
      await this.makeRoom(tenant.environmentId, name);
      const place = { environmentId: tenant.environmentId, id: this.ids.next() };
      const now = new Date(idTimeMs(place.id));
      const row = {
        ...place,
        name,
        description,
        value: this.sealed.seal(place, value),
        version: 1,
        createdAt: now,
        updatedAt: now,
      };
      await this.store.insert(row);
      return row;
    });
  }

  /**
   * Changes a secret. Any value creates a new version, even an unchanged one. Throws 404 for an unknown secret, and 422
   * for an invalid value.
   */
  async change(tenant: Tenant, id: Id, { value, description }: SecretChanges): Promise<SecretView> {
    if (value !== undefined) refuse(valueFaults(value));
    return this.database.transaction(async () => {
      const row = await this.store.findForUpdate(tenant.environmentId, id);
      if (row === null) throw noSuch('secret');
      const users = await this.uses.users(tenant.environmentId, id, USERS_SHOWN_MAX);
      if (value !== undefined && users.some(({ kind }) => kind === 'destination')) refuse(headerValueFaults(value));
      const changes = {
        ...(description !== undefined && { description }),
        ...(value !== undefined && { value: this.sealed.seal(row, value), version: row.version + 1 }),
      };
      if (Object.keys(changes).length === 0) return { row, users };
      return { row: await this.store.update(row, changes), users };
    });
  }

  /** Removes a secret. Throws 404 if it does not exist or was already removed, and 409 while it is in use. */
  async remove(tenant: Tenant, id: Id): Promise<void> {
    const { environmentId } = tenant;
    await this.database.transaction(async () => {
      // The row lock prevents new uses of the secret until the row is deleted.
      const row = await this.store.findForUpdate(environmentId, id);
      if (row === null) throw noSuch('secret');
      const users = await this.uses.users(environmentId, id, USERS_SHOWN_MAX);
      if (users.length > 0) {
        throw conflict('This secret is in use. Remove all uses listed in details.used_by first.', {
          used_by: users.map(showUser),
        });
      }
      await this.store.remove(row);
    });
  }

  private async makeRoom(environmentId: number, name: string): Promise<void> {
    await this.store.lock(environmentId);
    const { count, isTaken } = await this.store.occupancy(environmentId, name);
    if (isTaken)
      throw conflict(`A secret with the name ${name} already exists. Change it, or choose another name.`, { name });
    if (count >= SECRETS_MAX)
      throw conflict(`An environment has at most ${SECRETS_MAX} secrets. Delete one first.`, { limit: SECRETS_MAX });
  }
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid(faults);
}
