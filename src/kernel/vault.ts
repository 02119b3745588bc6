import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Config } from './config.js';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
const IV_BYTES = 12;
/** Always given and checked: Node takes a tag of 4 bytes otherwise (reference/standards.md, section 7). */
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + IV_BYTES + TAG_BYTES;

/** Where a sealed value lives. It opens nowhere else, so nobody who can write to the database can move it. */
export interface SealedPlace {
  table: string;
  environmentId: number;
  id: string;
  column: string;
}

/** The context of a sealed column, for `Vault.seal` and `Vault.open`. */
export function sealedIn({ table, environmentId, id, column }: SealedPlace): string {
  return `${table}|${environmentId}|${id}|${column}`;
}

/**
 * Seals short secrets for storage: AES-256-GCM under a key derived from MASTER_KEY (HKDF-SHA256, RFC 5869), with the
 * context as additional data. Sealed: version byte ‖ IV (12) ‖ tag (16) ‖ ciphertext.
 *
 * Random IVs bound one key to about 2^32 values (NIST SP 800-38D, section 8.3), far above what settings amount to.
 */
@Injectable()
export class Vault {
  private readonly key: Buffer;

  constructor(@Inject(Config) config: Pick<Config, 'masterKey'>) {
    this.key = Buffer.from(hkdfSync('sha256', config.masterKey, '', 'posthorn vault v1', 32));
  }

  seal(plaintext: string | Buffer, context: string): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
    const ciphertext = Buffer.concat([typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext), cipher.final()]);
    return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), ciphertext]);
  }

  /** What was sealed with the same context. Throws when it was sealed under another master key, elsewhere, or was altered. */
  open(sealed: Buffer, context: string): Buffer {
    if (sealed.length < HEADER_BYTES || sealed[0] !== VERSION) throw new Error(`The secret of ${context} is not in the form of version ${VERSION}.`);
    const iv = sealed.subarray(1, 1 + IV_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
    decipher.setAuthTag(sealed.subarray(1 + IV_BYTES, HEADER_BYTES));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES)), decipher.final()]);
    } catch {
      throw new Error(`The secret of ${context} can't be opened: MASTER_KEY is not the one it was sealed with, or the row was altered.`);
    }
  }
}
