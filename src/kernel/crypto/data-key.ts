import { hkdfSync } from 'node:crypto';
import { decrypt, encrypt } from './aes-gcm.js';

const KEY_BYTES = 32;
const WRAPPED_VERSION = 1;

export interface DataKey {
  id: number;
  /** The data key itself, not encrypted, 32 bytes. Secret. */
  key: Buffer;
}

/**
 * Returns data key 0, derived from MASTER_KEY. All values that are older than the random data keys were encrypted with
 * it.
 */
export function firstDataKey(masterKey: Buffer): Buffer {
  return derive(masterKey, 'posthorn vault v1');
}

/** Encrypts a data key, bound to its number, with a key derived from MASTER_KEY. Returns a version byte and a box. */
export function wrap(masterKey: Buffer, { id, key }: DataKey): Buffer {
  return Buffer.concat([Buffer.of(WRAPPED_VERSION), encrypt(wrappingKey(masterKey), key, rowOf(id))]);
}

/** Decrypts a data key. Returns null if it was wrapped with another MASTER_KEY, altered or moved to another row. */
export function unwrap(masterKey: Buffer, id: number, wrapped: Buffer): DataKey | null {
  if (wrapped[0] !== WRAPPED_VERSION) return null;
  const key = decrypt(wrappingKey(masterKey), wrapped.subarray(1), rowOf(id));
  return key?.length === KEY_BYTES ? { id, key } : null;
}

/** Derives a key with HKDF-SHA256 (RFC 5869). The result reveals nothing about other derived keys or the input key. */
export function derive(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, KEY_BYTES));
}

function wrappingKey(masterKey: Buffer): Buffer {
  return derive(masterKey, 'posthorn data keys v1');
}

function rowOf(id: number): Buffer {
  return Buffer.from(`data_keys|${id}`);
}
