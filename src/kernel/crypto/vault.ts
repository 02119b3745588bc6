import { Inject, Injectable } from '@nestjs/common';
import { Keyring } from './keyring.js';
import { dataKeyOf, openValue, sealValue } from './sealed-value.js';

export { sealedIn, type SealedPlace } from './sealed-value.js';

/**
 * Seals short secrets for storage: AES-256-GCM under the newest data key of the keyring, with the context as additional
 * data (`sealedIn`). What older data keys sealed still opens.
 */
@Injectable()
export class Vault {
  constructor(@Inject(Keyring) private readonly keyring: Pick<Keyring, 'newest' | 'find'>) {}

  seal(plaintext: string | Buffer, context: string): Buffer {
    return sealValue(this.keyring.newest(), plaintext, context);
  }

  /**
   * What was sealed with the same context. Throws when it was sealed elsewhere or altered, and when its data key is not
   * known here yet; the keyring looks for that one meanwhile, so that a later try may go well.
   */
  open(sealed: Buffer, context: string): Buffer {
    const id = dataKeyOf(sealed);
    if (id === null) throw new Error(`The secret of ${context} is not in a form that is known.`);
    const key = this.keyring.find(id);
    if (key === null)
      throw new Error(`The secret of ${context} was sealed with data key ${id}, which this process does not know yet.`);
    const plaintext = openValue(key, sealed, context);
    if (plaintext === null)
      throw new Error(`The secret of ${context} can't be opened: it was sealed for another place, or was altered.`);
    return plaintext;
  }
}
