import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { base32, fromBase32 } from '#engine/base32.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { type Id, idBytes, idFromBytes } from '#kernel/ids.js';
import { type NamedEmail } from './contract.js';

const PREFIX = 'b+';
const MAC_BYTES = 8;
const ENVIRONMENT_BYTES = 4;
const EMAIL_BYTES = ENVIRONMENT_BYTES + 16;
/** Length of the bit set of recipients: one bit for each of up to fifty. */
const PLACES_BYTES = 7;
/** A token of 35 bytes. The local part has 59 characters, and RFC 5321 allows 64. */
const TOKEN = /^b\+r([a-z2-7]{56})$/;
/** Token of older builds, without recipients. Still needed for reports about mail that those builds sent. */
const TOKEN_OF_EMAIL = /^b\+([0-9a-f]{56})$/;

/**
 * The local part contains the email and the envelope's recipients, and a signature that prevents forged bounces of
 * other emails. It uses lower case only, because mail servers may change the case.
 */
@Injectable()
export class ReturnPaths {
  private readonly keys = new Map<string, Buffer>();

  constructor(@Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>) {}

  /** `places` are the positions of the envelope's recipients in the email's list, starting at 0. */
  addressFor(environmentId: number, emailId: Id, places: readonly number[]): string {
    const named = Buffer.alloc(EMAIL_BYTES + PLACES_BYTES);
    named.writeUInt32BE(environmentId);
    idBytes(emailId).copy(named, ENVIRONMENT_BYTES);
    for (const place of places) {
      const at = EMAIL_BYTES + (place >> 3);
      named.writeUInt8(named.readUInt8(at) | (1 << (place & 7)), at);
    }
    return `${PREFIX}r${base32(Buffer.concat([named, this.sign('v2', named)]))}`;
  }

  /** True if the address has the reserved form of a return path. `read` decides whether it is valid. */
  isMeant(localPart: string): boolean {
    return localPart.toLowerCase().startsWith(PREFIX);
  }

  /**
   * Returns the email that the return path belongs to. Null for an address that Posthorn did not issue. If `isMeant` is
   * true for such an address, reject it with 550 5.1.1.
   */
  read(localPart: string): NamedEmail | null {
    const text = localPart.toLowerCase();
    const [, token] = TOKEN.exec(text) ?? [];
    if (token !== undefined) return this.readSigned('v2', fromBase32(token), EMAIL_BYTES + PLACES_BYTES);
    const [, hex] = TOKEN_OF_EMAIL.exec(text) ?? [];
    return hex === undefined ? null : this.readSigned('v1', Buffer.from(hex, 'hex'), EMAIL_BYTES);
  }

  private readSigned(version: 'v1' | 'v2', token: Buffer, namedBytes: number): NamedEmail | null {
    const named = token.subarray(0, namedBytes);
    if (!timingSafeEqual(token.subarray(namedBytes), this.sign(version, named))) return null;
    const emailId = idFromBytes(named.subarray(ENVIRONMENT_BYTES, EMAIL_BYTES));
    return {
      environmentId: named.readUInt32BE(),
      emailId,
      places: version === 'v1' ? null : placesIn(named.subarray(EMAIL_BYTES)),
    };
  }

  private sign(version: 'v1' | 'v2', named: Buffer): Buffer {
    const key = this.keys.get(version) ?? this.keyring.derived(`posthorn return paths ${version}`);
    this.keys.set(version, key);
    return createHmac('sha256', key).update(named).digest().subarray(0, MAC_BYTES);
  }
}

function placesIn(bits: Buffer): number[] {
  return [...bits].flatMap((byte, at) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (byte >> bit) & 1).map((bit) => at * 8 + bit),
  );
}
