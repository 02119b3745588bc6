import { randomBytes } from 'node:crypto';
import { sealedIn, type Vault } from '#kernel/crypto/vault.js';
import type { EnvironmentEntity } from '../auth.entities.js';

const KEY_BYTES = 32;

export type SigningColumns = Pick<EnvironmentEntity, 'secret' | 'previousSecret' | 'previousSecretUntil'>;

export function newSigningSecret(vault: Vault, environmentId: number): SigningColumns {
  return {
    secret: vault.seal(randomBytes(KEY_BYTES), place(environmentId, 'secret')),
    previousSecret: null,
    previousSecretUntil: null,
  };
}

/** Returns the columns after a rotation: a new key, and the previous key, which is valid until `previousUntil`. */
export function rotatedSigningSecret(vault: Vault, row: EnvironmentEntity, previousUntil: Date): SigningColumns {
  // The key is encrypted again, because a value can be decrypted only in the column that it was encrypted for.
  const previousSecret = vault.seal(currentKey(vault, row), place(row.id, 'previous_secret'));
  return { ...newSigningSecret(vault, row.id), previousSecret, previousSecretUntil: previousUntil };
}

export function currentKey(vault: Vault, row: Pick<EnvironmentEntity, 'id' | 'secret'>): Buffer {
  return vault.open(row.secret, place(row.id, 'secret'));
}

/**
 * Returns the previous signing key, or `null` if there is none. The caller has to check whether its grace period is
 * over.
 */
export function previousKey(vault: Vault, row: Pick<EnvironmentEntity, 'id' | 'previousSecret'>): Buffer | null {
  return row.previousSecret && vault.open(row.previousSecret, place(row.id, 'previous_secret'));
}

function place(environmentId: number, column: 'secret' | 'previous_secret'): string {
  return sealedIn({ table: 'environments', environmentId, id: '', column });
}
