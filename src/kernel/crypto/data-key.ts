import { hkdfSync } from 'node:crypto';
import { decrypt, encrypt } from './aes-gcm.js';

const KEY_BYTES = 32;
const WRAPPED_VERSION = 1;

/** One key that seals values, by its number. */
export interface DataKey {
  id: number;
  /** 32 bytes. Secret. */
  key: Buffer;
}

/** The key that sealed everything before there were data keys: derived from MASTER_KEY itself. Now number 0. */
export function firstDataKey(masterKey: Buffer): Buffer {
  return derive(masterKey, 'posthorn vault v1');
}

/** A data key as it is stored: a version byte and the box, under a key derived from MASTER_KEY, bound to its number. */
export function wrap(masterKey: Buffer, { id, key }: DataKey): Buffer {
  return Buffer.concat([Buffer.of(WRAPPED_VERSION), encrypt(wrappingKey(masterKey), key, rowOf(id))]);
}

/** The stored data key, or null when another MASTER_KEY wrapped it, or it was altered or moved. */
export function unwrap(masterKey: Buffer, id: number, wrapped: Buffer): DataKey | null {
  if (wrapped[0] !== WRAPPED_VERSION) return null;
  const key = decrypt(wrappingKey(masterKey), wrapped.subarray(1), rowOf(id));
  return key?.length === KEY_BYTES ? { id, key } : null;
}

/** A key for one purpose (HKDF-SHA256, RFC 5869): none says anything about another, or about the one it is made of. */
export function derive(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, KEY_BYTES));
}

function wrappingKey(masterKey: Buffer): Buffer {
  return derive(masterKey, 'posthorn data keys v1');
}

function rowOf(id: number): Buffer {
  return Buffer.from(`data_keys|${id}`);
}
