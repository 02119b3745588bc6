import { Injectable } from '@nestjs/common';
import { secretNames } from '#engine/inbound/secret-names.js';
import { invalid } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { SecretUsesStore } from '#modules/secrets/secret-uses.store.js';
import type { TransformSettings } from './contract.js';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const NAMES_SHOWN_MAX = 10;

@Injectable()
export class CodeSecrets {
  constructor(private readonly uses: SecretUsesStore) {}

  /**
   * Records which named secrets the endpoint's code uses, in the caller's transaction. Throws 422 if a secret does not
   * exist.
   */
  async use(environmentId: number, endpointId: Id, transform: TransformSettings | null): Promise<void> {
    const names = secretNames(transform?.code ?? '');
    const unknown = await this.uses.replace(environmentId, { kind: 'endpoint', id: endpointId }, names);
    if (unknown.length > 0) throw invalid([{ path: 'transform.code', message: messageFor(unknown) }]);
  }

  /** Records that a deleted endpoint no longer uses any secrets, in the caller's transaction. */
  async release(environmentId: number, endpointId: Id): Promise<void> {
    await this.uses.replace(environmentId, { kind: 'endpoint', id: endpointId }, []);
  }
}

/**
 * Returns the error for unknown secrets. Omits text that cannot be a secret's name, because it might be a secret value.
 */
function messageFor(unknown: readonly string[]): string {
  const names = unknown.filter((name) => NAME.test(name)).slice(0, NAMES_SHOWN_MAX);
  return names.length === 0
    ? 'names something that cannot be the name of a secret'
    : `names secrets that do not exist: ${names.join(', ')}`;
}
