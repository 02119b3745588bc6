import { Inject, Injectable } from '@nestjs/common';
import { Keyring } from './keyring.js';
import { dataKeyOf, openValue, sealValue } from './sealed-value.js';

export { sealedIn, type SealedPlace } from './sealed-value.js';

/** Limits of the cache of `sealRepeated`: about 1 MB. */
const REPEATED_MAX = 1_000;
const REPEATED_LENGTH_MAX = 256;

/**
 * Seals (encrypts) short secrets for storage: AES-256-GCM with the newest data key, and with the context as additional
 * data (`sealedIn`). Values that were sealed with older data keys can still be decrypted.
 */
@Injectable()
export class Vault {
  /** Results of `sealRepeated`, oldest first. */
  private readonly repeated = new Map<string, Buffer>();

  constructor(@Inject(Keyring) private readonly keyring: Pick<Keyring, 'newest' | 'find'>) {}

  seal(plaintext: string | Buffer, context: string): Buffer {
    return sealValue(this.keyring.newest(), plaintext, context);
  }

  /**
   * Encrypts a value that repeats often, such as a provider's token. May return the same bytes again for the same value
   * and context, which reveals the equal values in the database.
   */
  sealRepeated(plaintext: string, context: string): Buffer {
    if (plaintext.length > REPEATED_LENGTH_MAX) return this.seal(plaintext, context);
    const key = this.keyring.newest();
    const name = `${key.id}|${context}|${plaintext}`;
    const known = this.repeated.get(name);
    if (known !== undefined) return known;
    const sealed = sealValue(key, plaintext, context);
    for (const oldest of this.repeated.keys()) {
      if (this.repeated.size < REPEATED_MAX) break;
      this.repeated.delete(oldest);
    }
    this.repeated.set(name, sealed);
    return sealed;
  }

  /**
   * Decrypts a sealed value. Throws if it was sealed for another context or altered, or if its data key is not loaded
   * yet. An unknown key is then loaded in the background, so that a later attempt may succeed.
   */
  open(sealed: Buffer, context: string): Buffer {
    const id = dataKeyOf(sealed);
    if (id === null) throw new Error(`The secret of ${context} has an unknown format.`);
    const key = this.keyring.find(id);
    if (key === null)
      throw new Error(`The secret of ${context} was sealed with data key ${id}, which this process does not know yet.`);
    const plaintext = openValue(key, sealed, context);
    if (plaintext === null)
      throw new Error(`The secret of ${context} can't be opened: it was sealed for another context, or was altered.`);
    return plaintext;
  }
}
