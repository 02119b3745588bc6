import { Injectable } from '@nestjs/common';
import { Clock } from './clock.js';
import { RandomPool } from './crypto/random-pool.js';
import { encodeUlid, incrementUlid, readUlid, ulidBytes, ulidTime } from './ulid.js';

/**
 * Prefixes of ids in the API. Not obvious: `rte` routes of an endpoint, `rep` reports about mail, `mbr` members, `ses`
 * sessions, `pls` customer portal sessions, `aud` entries of the audit log, `tpl` templates of emails.
 */
export type IdPrefix =
  | 'org'
  | 'ek'
  | 'ep'
  | 'dst'
  | 'app'
  | 'msg'
  | 'evt'
  | 'dom'
  | 'pdom'
  | 'rte'
  | 'al'
  | 'sec'
  | 'sup'
  | 'top'
  | 'rpl'
  | 'rpj'
  | 'req'
  | 'rep'
  | 'mbr'
  | 'ses'
  | 'pls'
  | 'aud'
  | 'tpl';

/** A ULID as the text of a UUID (16 bytes in PostgreSQL). Sorts by time. The API shows a prefix and 26 characters. */
export type Id = string;

const UNDERSCORE = '_'.charCodeAt(0);

/** Maximum time by which the clock may be set back while ids keep ascending. */
const AHEAD_MS_MAX = 60_000;

/** Creates ids that strictly ascend within this process, even within one millisecond. */
@Injectable()
export class Ids {
  private readonly last: Buffer = Buffer.alloc(16);
  private lastMs = 0;

  constructor(private readonly clock: Clock) {}

  next(): Id {
    return idFromBytes(this.nextBytes());
  }

  /** Returns `count` consecutive ids: no other id lies between the first and the last. */
  block(count: number): Id[] {
    const ids = [this.next()];
    while (ids.length < count) {
      incrementUlid(this.last);
      ids.push(idFromBytes(this.last));
    }
    return ids;
  }

  /** Returns an id in API form that is never stored, such as a request id. */
  nextShown(prefix: IdPrefix): string {
    return `${prefix}_${encodeUlid(this.nextBytes())}`;
  }

  private nextBytes(): Buffer {
    const nowMs = this.clock.nowMs();
    // The last id may be far in the future, because it was created before a wrong clock was corrected. The next ids
    // must not continue from it.
    if (nowMs > this.lastMs || this.lastMs - nowMs > AHEAD_MS_MAX) {
      this.lastMs = nowMs;
      ulidBytes(nowMs, random.next(), this.last);
    } else {
      incrementUlid(this.last);
    }
    return this.last;
  }
}

const random = new RandomPool(10);

const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
const NIBBLES = Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max('0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()), 0),
);
/** Positions of the two digits of each byte in the text of a UUID. */
const DIGITS_AT = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

// Buffers that all conversions reuse, because every message needs a dozen conversions. Only the resulting text is
// allocated.
const uuidCodes = Array.from('00000000-0000-0000-0000-000000000000', (char) => char.charCodeAt(0));
const scratch = new Uint8Array(16);

export function idFromBytes(bytes: Uint8Array): Id {
  for (let i = 0; i < 16; i += 1) {
    const at = DIGITS_AT[i] as number;
    const byte = bytes[i] as number;
    uuidCodes[at] = DIGITS[byte >> 4] as number;
    uuidCodes[at + 1] = DIGITS[byte & 15] as number;
  }
  return String.fromCharCode.apply(null, uuidCodes);
}

/** Writes the 16 bytes of an id. Allocates no string or buffer, since every batch calls it for every row. */
export function writeId(buffer: Uint8Array, offset: number, id: Id): void {
  for (let i = 0; i < 16; i += 1) {
    const at = DIGITS_AT[i] as number;
    buffer[offset + i] = ((NIBBLES[id.charCodeAt(at)] as number) << 4) | (NIBBLES[id.charCodeAt(at + 1)] as number);
  }
}

export function idBytes(id: Id): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  writeId(bytes, 0, id);
  return bytes;
}

/** Returns the API form: `evt_01J…`. */
export function showId(prefix: IdPrefix, id: Id): string {
  writeId(scratch, 0, id);
  return `${prefix}_${encodeUlid(scratch)}`;
}

/** Parses an id in API form. Returns null if the text is not an id with this prefix. */
export function parseId(prefix: IdPrefix, text: string): Id | null {
  const { length } = prefix;
  if (text.charCodeAt(length) !== UNDERSCORE || !text.startsWith(prefix)) return null;
  return readUlid(scratch, text, length + 1) ? idFromBytes(scratch) : null;
}

/** Returns the creation time in milliseconds since the epoch. */
export function idTimeMs(id: Id): number {
  writeId(scratch, 0, id);
  return ulidTime(scratch);
}

/** Returns the id `distance` positions after `id`, in the order of `Ids.block`. */
export function idAfter(id: Id, distance: number): Id {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + BigInt(distance)).toString(16).padStart(32, '0');
  return [next.slice(0, 8), next.slice(8, 12), next.slice(12, 16), next.slice(16, 20), next.slice(20)].join('-');
}

/** Returns the lowest possible id of a creation time. Used as the lower bound of a time range over ids. */
export function lowestIdAt(timeMs: number): Id {
  return idFromBytes(ulidBytes(Math.min(Math.max(timeMs, 0), 2 ** 48 - 1), Buffer.alloc(10)));
}
