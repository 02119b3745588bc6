import { Injectable } from '@nestjs/common';
import { secretNames } from '#engine/inbound/secret-names.js';
import { invalid } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { SecretUses } from '#modules/secrets/contract.js';
import type { TransformSettings } from './contract.js';

/** What a secret may be called. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const NAMES_SHOWN_MAX = 10;

/** Named secrets in the code of transforms. */
@Injectable()
export class CodeSecrets {
  constructor(private readonly uses: SecretUses) {}

  /** Records in the caller's transaction which secrets the transform uses from now on. Throws 422 when one does not exist. */
  async use(environmentId: number, endpointId: Id, transform: TransformSettings | null): Promise<void> {
    const names = secretNames(transform?.code ?? '');
    const unknown = await this.uses.replace(environmentId, { kind: 'endpoint', id: endpointId }, names);
    if (unknown.length > 0) throw invalid([{ path: 'transform.code', message: messageFor(unknown) }]);
  }

  /** Lets go of every secret of an endpoint that is removed, in the caller's transaction. */
  async release(environmentId: number, endpointId: Id): Promise<void> {
    await this.uses.replace(environmentId, { kind: 'endpoint', id: endpointId }, []);
  }
}

/** What can't be a name is not repeated: it may be anything. */
function messageFor(unknown: readonly string[]): string {
  const names = unknown.filter((name) => NAME.test(name)).slice(0, NAMES_SHOWN_MAX);
  return names.length === 0
    ? 'names something that no secret can be called'
    : `names secrets that do not exist: ${names.join(', ')}`;
}
