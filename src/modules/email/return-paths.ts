import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { base32, fromBase32 } from '#engine/base32.js';
import { RETURN_PATH_PREFIX } from '#engine/mail/alias-address.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { type Id, idBytes, idFromBytes } from '#kernel/ids.js';
import { type NamedEmail } from './contract.js';

const MAC_BYTES = 8;
const ENVIRONMENT_BYTES = 4;
const EMAIL_BYTES = ENVIRONMENT_BYTES + 16;
/** Length in bytes of the bit set of recipients in a return path. Each of up to fifty recipients has one bit. */
const PLACES_BYTES = 7;
/** Matches a local part with a token of 35 bytes. Such a local part has 59 characters. RFC 5321 allows 64. */
const TOKEN = /^b\+r([a-z2-7]{56})$/;
/**
 * Matches tokens of older versions, which contain no recipients. Reports about mail of these versions may still arrive.
 */
const TOKEN_OF_EMAIL = /^b\+([0-9a-f]{56})$/;

/**
 * Return paths of emails. The local part encodes the environment, the email's id, and the recipients of the envelope.
 * It is signed, so that bounces for other emails cannot be forged. It is in lower case, because mail servers may change
 * the case.
 */
@Injectable()
export class ReturnPaths {
  private readonly keys = new Map<string, Buffer>();

  constructor(@Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>) {}

  /** Returns the local part of a return path. `places` are the indexes of the envelope's recipients in the email. */
  addressFor(environmentId: number, emailId: Id, places: readonly number[]): string {
    const named = Buffer.alloc(EMAIL_BYTES + PLACES_BYTES);
    named.writeUInt32BE(environmentId);
    idBytes(emailId).copy(named, ENVIRONMENT_BYTES);
    for (const place of places) {
      const at = EMAIL_BYTES + (place >> 3);
      named.writeUInt8(named.readUInt8(at) | (1 << (place & 7)), at);
    }
    return `${RETURN_PATH_PREFIX}r${base32(Buffer.concat([named, this.sign('v2', named)]))}`;
  }

  /** Returns whether the local part has the form of a return path. Only `read` checks the signature. */
  isMeant(localPart: string): boolean {
    return localPart.toLowerCase().startsWith(RETURN_PATH_PREFIX);
  }

  /**
   * Returns the email to which the return path belongs. Null for an address that Posthorn did not issue. If `isMeant`
   * returns true for such an address, the caller must reject it with 550 5.1.1.
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
