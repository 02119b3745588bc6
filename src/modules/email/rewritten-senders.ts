import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { base32, fromBase32 } from '#engine/base32.js';
import { Clock } from '#kernel/clock.js';
import { Keyring } from '#kernel/crypto/keyring.js';

const LOCAL_MAX = 64;
/** Length in bytes of the hash in a rewritten sender address. Five bytes are eight base32 characters. */
const MAC_BYTES = 5;
const DAY_MS = 86_400_000;
/** A rewritten address contains its creation day modulo this number, which fits into two base32 characters. */
const DAYS = 1_024;
/**
 * Maximum age of a rewritten address in days. Mail servers send a bounce after at most about five days of retries. The
 * other days are a margin.
 */
const AGE_DAYS_MAX = 21;
const REWRITTEN = /^srs0[=+-]([a-z2-7]{8})=([a-z2-7]{2})=([^=@]+)=(.+)$/i;

/**
 * Rewrites the envelope senders of forwarded mail (Sender Rewriting Scheme, `SRS0=HHHHHHHH=TT=domain=local`). The next
 * server then checks SPF for Posthorn's host instead of the original sender's host. The hash proves that Posthorn
 * issued the address, and the day limits its validity. Both prevent others from sending mail to the original sender
 * through Posthorn.
 */
@Injectable()
export class RewrittenSenders {
  private key: Buffer | null = null;

  constructor(
    @Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>,
    private readonly clock: Clock,
  ) {}

  /** Returns the rewritten local part. Null if it cannot be encoded, or if it exceeds the maximum length (RFC 5321). */
  localPart(sender: string): string | null {
    const at = sender.lastIndexOf('@');
    const [local, domain] = [sender.slice(0, at), sender.slice(at + 1)];
    if (at < 1 || !/^[a-z0-9.-]+$/i.test(domain) || !/^[!#-'*+./0-9=?A-Z^_`a-z{|}~-]+$/.test(local)) return null;
    const day = this.today();
    const stamp = base32(Buffer.from([day >> 2, (day & 3) << 6])).slice(0, 2);
    const rewritten = `SRS0=${this.hash(stamp, domain, local)}=${stamp}=${domain}=${local}`;
    return rewritten.length > LOCAL_MAX ? null : rewritten;
  }

  /** Returns the original sender. Null if Posthorn did not issue the address, or if the address is too old. */
  read(localPart: string): string | null {
    const [, hash, stamp, domain, local] = REWRITTEN.exec(localPart) ?? [];
    if (hash === undefined || stamp === undefined || domain === undefined || local === undefined) return null;
    const expected = Buffer.from(this.hash(stamp, domain, local));
    if (!timingSafeEqual(Buffer.from(hash.toLowerCase()), expected)) return null;
    const [high = 0, low = 0] = fromBase32(`${stamp.toLowerCase()}aa`);
    const age = (this.today() - ((high << 2) | (low >> 6)) + DAYS) % DAYS;
    return age > AGE_DAYS_MAX ? null : `${local}@${domain}`;
  }

  private today(): number {
    return Math.floor(this.clock.nowMs() / DAY_MS) % DAYS;
  }

  /** Returns the hash for a rewritten address. Ignores case, because mail servers may change the case of addresses. */
  private hash(stamp: string, domain: string, local: string): string {
    this.key ??= this.keyring.derived('posthorn rewritten senders v1');
    const said = `${stamp}=${domain}=${local}`.toLowerCase();
    return base32(createHmac('sha256', this.key).update(said).digest().subarray(0, MAC_BYTES));
  }
}
