import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import { type CodeLimits, CodesStore } from './codes.store.js';

const TRIES_MAX = 5;
/**
 * Limits on codes for one address per hour. The limit per network keeps a stranger in another network from using up a
 * person's codes. `fromStrangers` limits the codes that can be requested from networks in which the person has never
 * signed in.
 */
const CODES_PER_HOUR: CodeLimits = { perNetwork: 5, fromStrangers: 20 };
const SWEEP_EVERY_MS = 3_600_000;

export interface MadeCode {
  ticket: string;
  /** Code of six digits; null if the address has reached its limit. */
  code: string | null;
}

/**
 * Sign-in codes of six digits, valid for ten minutes. A code works only together with its ticket of 256 random bits,
 * which only the browser that requested the code has. A ticket allows five attempts. A stranger can therefore neither
 * guess another person's code nor use up that person's attempts.
 */
@Injectable()
export class Codes {
  constructor(private readonly store: CodesStore) {}

  /**
   * Returns a new code for an address, whether or not the address belongs to a member. The caller decides whether to
   * mail the code.
   */
  async make(email: string, network: string): Promise<MadeCode> {
    const ticket = randomBytes(32).toString('base64url');
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const isMade = await this.store.insert(
      { ticketHash: sha256(ticket), email, codeHash: codeHash(ticket, code), network },
      CODES_PER_HOUR,
    );
    return { ticket, code: isMade ? code : null };
  }

  /**
   * Counts an attempt to enter a code, and returns whether the code is correct. `email` is null if no attempt was left.
   */
  async check(ticket: string, code: string): Promise<{ email: string | null; isRight: boolean }> {
    const pending = await this.store.try(sha256(ticket), TRIES_MAX);
    if (pending === null) return { email: null, isRight: false };
    return {
      email: pending.email,
      isRight: timingSafeEqual(pending.code_hash, codeHash(ticket, code.replaceAll(/\D/g, ''))),
    };
  }

  /** Marks the code as used. Returns false if another request used it first. */
  use(ticket: string): Promise<boolean> {
    return this.store.use(sha256(ticket));
  }

  @Every(SWEEP_EVERY_MS, { name: 'Sign-in code sweep', removesByAge: true })
  async sweep(): Promise<void> {
    await this.store.purge();
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Returns the hash of a code and its ticket. Without the ticket, which is not stored, the hash cannot be reversed. */
function codeHash(ticket: string, code: string): Buffer {
  return sha256(`${ticket}:${code}`);
}
