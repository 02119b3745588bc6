import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Id, idBytes, idFromBytes } from '#kernel/ids.js';
import { Keyring } from '#kernel/keyring.js';
import { ReturnAddresses } from './contract.js';

const PREFIX = 'b+';
const MAC_BYTES = 8;
const ENVIRONMENT_BYTES = 4;
const TOKEN = /^b\+([0-9a-f]{56})$/;

/**
 * The local part that an email's bounces go to: whose email it is, signed, so that nobody can make up a bounce of another's.
 * In hexadecimal, since servers on the way may change the case.
 */
@Injectable()
export class ReturnPaths extends ReturnAddresses {
  private key: Buffer | null = null;

  constructor(@Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>) {
    super();
  }

  /** The local part for an email. */
  of(environmentId: number, emailId: Id): string {
    const named = Buffer.alloc(ENVIRONMENT_BYTES + 16);
    named.writeUInt32BE(environmentId);
    idBytes(emailId).copy(named, ENVIRONMENT_BYTES);
    return `${PREFIX}${named.toString('hex')}${this.sign(named).toString('hex')}`;
  }

  override isMeant(localPart: string): boolean {
    return localPart.toLowerCase().startsWith(PREFIX);
  }

  override read(localPart: string): { environmentId: number; emailId: Id } | null {
    const [, hex] = TOKEN.exec(localPart.toLowerCase()) ?? [];
    if (hex === undefined) return null;
    const token = Buffer.from(hex, 'hex');
    const named = token.subarray(0, ENVIRONMENT_BYTES + 16);
    if (!timingSafeEqual(token.subarray(named.length), this.sign(named))) return null;
    return { environmentId: named.readUInt32BE(), emailId: idFromBytes(named.subarray(ENVIRONMENT_BYTES)) };
  }

  private sign(named: Buffer): Buffer {
    this.key ??= this.keyring.derived('posthorn return paths v1');
    return createHmac('sha256', this.key).update(named).digest().subarray(0, MAC_BYTES);
  }
}
