import { randomBytes } from 'node:crypto';
import { sealedIn, type Vault } from '#kernel/crypto/vault.js';
import type { EnvironmentEntity } from '../auth.entities.js';

const KEY_BYTES = 32;

/** The sealed columns of an environment's signing secret. */
export type SigningColumns = Pick<EnvironmentEntity, 'secret' | 'previousSecret' | 'previousSecretUntil'>;

/** The columns of an environment whose secret has just been made. */
export function newSigningSecret(vault: Vault, environmentId: number): SigningColumns {
  return {
    secret: vault.seal(randomBytes(KEY_BYTES), place(environmentId, 'secret')),
    previousSecret: null,
    previousSecretUntil: null,
  };
}

/** The columns after a rotation: a new key, and the one that was in force until `previousUntil`. */
export function rotatedSigningSecret(vault: Vault, row: EnvironmentEntity, previousUntil: Date): SigningColumns {
  // Sealed again: a value opens only in the column that it was sealed for.
  const previousSecret = vault.seal(currentKey(vault, row), place(row.id, 'previous_secret'));
  return { ...newSigningSecret(vault, row.id), previousSecret, previousSecretUntil: previousUntil };
}

/** The key in force. */
export function currentKey(vault: Vault, row: Pick<EnvironmentEntity, 'id' | 'secret'>): Buffer {
  return vault.open(row.secret, place(row.id, 'secret'));
}

/** The key before it, or null when there is none. Whether its grace lasts is for the caller to say. */
export function previousKey(vault: Vault, row: Pick<EnvironmentEntity, 'id' | 'previousSecret'>): Buffer | null {
  return row.previousSecret && vault.open(row.previousSecret, place(row.id, 'previous_secret'));
}

function place(environmentId: number, column: 'secret' | 'previous_secret'): string {
  return sealedIn({ table: 'environments', environmentId, id: '', column });
}
