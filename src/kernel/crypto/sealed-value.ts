import { BOX_BYTES, decrypt, encrypt } from './aes-gcm.js';
import type { DataKey } from './data-key.js';

/**
 * The column and row that an encrypted value is bound to. An attacker with write access to the database can therefore
 * not move the value.
 */
export interface SealedPlace {
  table: string;
  environmentId: number;
  id: string;
  column: string;
}

/**
 * Format version 1: version byte ‖ box (the result of `encrypt`), under data key 0. Still read, but no longer written.
 */
const VERSION_1 = 1;
const HEADER_BYTES_1 = 1;
/** Format version 2: version byte ‖ number of the data key (4 bytes, big endian) ‖ box. */
const VERSION_2 = 2;
const HEADER_BYTES_2 = 5;

/** Returns the context that binds a value to this column, for `Vault.seal` and `Vault.open`. */
export function sealedIn({ table, environmentId, id, column }: SealedPlace): string {
  return `${table}|${environmentId}|${id}|${column}`;
}

/** Encrypts a value and prepends a header with the data key's number. Authenticates both the header and the context. */
export function sealValue({ id, key }: DataKey, plaintext: string | Buffer, context: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES_2);
  header.writeUInt8(VERSION_2);
  header.writeUInt32BE(id, 1);
  return Buffer.concat([header, encrypt(key, plaintext, Buffer.concat([header, Buffer.from(context)]))]);
}

/** Returns the number of the value's data key, or null for an unknown format. */
export function dataKeyOf(sealed: Buffer): number | null {
  if (sealed[0] === VERSION_1 && sealed.length >= HEADER_BYTES_1 + BOX_BYTES) return 0;
  return sealed[0] === VERSION_2 && sealed.length >= HEADER_BYTES_2 + BOX_BYTES ? sealed.readUInt32BE(1) : null;
}

/** Decrypts a result of `sealValue`. Returns null if the key or the context is wrong, or if the value was altered. */
export function openValue(key: Buffer, sealed: Buffer, context: string): Buffer | null {
  if (sealed[0] === VERSION_1) return decrypt(key, sealed.subarray(HEADER_BYTES_1), Buffer.from(context));
  const [header, box] = [sealed.subarray(0, HEADER_BYTES_2), sealed.subarray(HEADER_BYTES_2)];
  return decrypt(key, box, Buffer.concat([header, Buffer.from(context)]));
}
