import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { formatSecret, parseSecret } from '#engine/signing.js';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database.js';
import { invalid, notFound } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { sealedIn, Vault } from '#kernel/vault.js';
import type { DestinationEntity } from './destinations.entities.js';
import { DestinationsStore } from './destinations.store.js';

/** The sealed columns. */
export type SecretColumns = Pick<DestinationEntity, 'secret' | 'previousSecret' | 'previousSecretUntil'>;

type Place = Pick<DestinationEntity, 'environmentId' | 'id'>;

const KEY_BYTES = 32;

/** Signing secrets and credentials of destinations: sealed in their rows, opened here only. */
@Injectable()
export class DestinationSecrets {
  constructor(
    private readonly store: DestinationsStore,
    private readonly vault: Vault,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** The columns of a new destination; `given` is the secret that its owner brings. Throws 422 when that is none. */
  begin(place: Place, given: string | null): SecretColumns {
    const key = given === null ? randomBytes(KEY_BYTES) : givenKey(given);
    return { secret: this.vault.seal(key, sealed(place, 'secret')), previousSecret: null, previousSecretUntil: null };
  }

  /** The keys that sign now, newest first. */
  signingKeys(row: SecretColumns & Place): Buffer[] {
    const isInGrace = row.previousSecret !== null && row.previousSecretUntil !== null && row.previousSecretUntil > this.clock.now();
    const current = this.current(row);
    return isInGrace && row.previousSecret ? [current, this.vault.open(row.previousSecret, sealed(row, 'previous_secret'))] : [current];
  }

  /** The secret in force. Throws 404. */
  async show(tenant: Tenant, id: Id): Promise<string> {
    const row = await this.store.find(tenant.environmentId, id);
    if (row === null) throw notFound('destination');
    return formatSecret(this.current(row));
  }

  /** A new secret; the one before signs too for `graceMs`, and what was before that no longer does. Throws 404. */
  rotate(tenant: Tenant, id: Id, graceMs: number): Promise<string> {
    return this.database.transaction(async () => {
      const row = await this.store.findForUpdate(tenant.environmentId, id);
      if (row === null) throw notFound('destination');
      const columns = this.begin(row, null);
      await this.store.update(tenant.environmentId, id, {
        ...columns,
        // Sealed again: a value opens only in the column that it was sealed for.
        previousSecret: this.vault.seal(this.current(row), sealed(row, 'previous_secret')),
        previousSecretUntil: new Date(this.clock.nowMs() + graceMs),
      });
      return formatSecret(this.current({ ...row, ...columns }));
    });
  }

  sealCredentials(place: Place, credentials: Record<string, string> | null): Buffer | null {
    return credentials && this.vault.seal(JSON.stringify(credentials), sealed(place, 'credentials'));
  }

  openCredentials(row: Place & Pick<DestinationEntity, 'credentials'>): Record<string, string> | null {
    if (row.credentials === null) return null;
    return JSON.parse(this.vault.open(row.credentials, sealed(row, 'credentials')).toString()) as Record<string, string>;
  }

  private current(row: Pick<SecretColumns, 'secret'> & Place): Buffer {
    return this.vault.open(row.secret, sealed(row, 'secret'));
  }
}

function sealed({ environmentId, id }: Place, column: 'secret' | 'previous_secret' | 'credentials'): string {
  return sealedIn({ table: 'destinations', environmentId, id, column });
}

function givenKey(secret: string): Buffer {
  try {
    return parseSecret(secret);
  } catch {
    throw invalid([{ path: 'secret', message: 'must be whsec_ and the padded base64 of 24 to 64 bytes' }]);
  }
}
