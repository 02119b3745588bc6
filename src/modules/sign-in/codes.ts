import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import { type CodeLimits, CodesStore } from './codes.store.js';

const TRIES_MAX = 5;
/**
 * Per network, so that a stranger cannot use up another person's codes. Codes that strangers can trigger for one
 * address are also limited over all networks. A network in which the member has signed in before is not a stranger's.
 */
const CODES_PER_HOUR: CodeLimits = { perNetwork: 5, fromStrangers: 20 };
const SWEEP_EVERY_MS = 3_600_000;

export interface MadeCode {
  ticket: string;
  /** Six digits; null if the address has reached its limit. */
  code: string | null;
}

/**
 * Six digits, valid for ten minutes, only in the browser that requested them: it holds a ticket of 256 random bits that
 * is required as well. A ticket allows five attempts. So a stranger can neither guess another person's code nor use up
 * that person's attempts.
 */
@Injectable()
export class Codes {
  constructor(private readonly store: CodesStore) {}

  /** Creates a code for an address, whether or not it belongs to a member. The caller decides whether to mail it. */
  async make(email: string, network: string): Promise<MadeCode> {
    const ticket = randomBytes(32).toString('base64url');
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const isMade = await this.store.insert(
      { ticketHash: sha256(ticket), email, codeHash: codeHash(ticket, code), network },
      CODES_PER_HOUR,
    );
    return { ticket, code: isMade ? code : null };
  }

  /** `email` is null if no attempt is left. A right code can be checked again until it is used. */
  async check(ticket: string, code: string): Promise<{ email: string | null; isRight: boolean }> {
    const pending = await this.store.try(sha256(ticket), TRIES_MAX);
    if (pending === null) return { email: null, isRight: false };
    return {
      email: pending.email,
      isRight: timingSafeEqual(pending.code_hash, codeHash(ticket, code.replaceAll(/\D/g, ''))),
    };
  }

  /** Returns false if another request was faster. */
  use(ticket: string): Promise<boolean> {
    return this.store.use(sha256(ticket));
  }

  @Every(SWEEP_EVERY_MS, { name: 'SignInCodes', removesByAge: true })
  async sweep(): Promise<void> {
    await this.store.purge();
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Hashes the code with the ticket, which is not stored. The hash of six digits alone could be reversed within moments.
 */
function codeHash(ticket: string, code: string): Buffer {
  return sha256(`${ticket}:${code}`);
}
