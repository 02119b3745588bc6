import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { type CodeLimits, CodesStore } from './codes.store.js';

const TRIES_MAX = 5;
/**
 * Each network has codes of its own, so that nobody uses up those of somebody else; what strangers can have mailed to one address is
 * bounded over all networks too, and a network in which the member has signed in before is none of strangers.
 */
const CODES_PER_HOUR: CodeLimits = { perNetwork: 5, fromStrangers: 20 };
const SWEEP_EVERY_MS = 3_600_000;

/** A code that was made, and the ticket of the browser that asked for it. */
export interface MadeCode {
  ticket: string;
  /** Six digits; null when the address has had enough of them for now. */
  code: string | null;
}

/**
 * One-time codes for the sign-in: six digits, for ten minutes, for the browser alone that asked for them. It holds a ticket of
 * 256 random bits, without which a code is worth nothing, and a ticket has five tries: a stranger can neither guess the code of
 * somebody else nor use up his tries.
 */
@Injectable()
export class Codes implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    private readonly store: CodesStore,
    private readonly gate: RetentionGate,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'SignInCodes',
      () => this.sweep(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  /** A code for an address, whoever it belongs to; whether it is mailed is for the caller to say. */
  async make(email: string, network: string): Promise<MadeCode> {
    const ticket = randomBytes(32).toString('base64url');
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const isMade = await this.store.insert(
      { ticketHash: sha256(ticket), email, codeHash: codeHash(ticket, code), network },
      CODES_PER_HOUR,
    );
    return { ticket, code: isMade ? code : null };
  }

  /** Whether a code is right, and the address that it was mailed to; null when nothing may be tried any more. A right one may be asked again until it is used. */
  async check(ticket: string, code: string): Promise<{ email: string | null; isRight: boolean }> {
    const pending = await this.store.try(sha256(ticket), TRIES_MAX);
    if (pending === null) return { email: null, isRight: false };
    return {
      email: pending.email,
      isRight: timingSafeEqual(pending.code_hash, codeHash(ticket, code.replaceAll(/\D/g, ''))),
    };
  }

  /** Uses a code up. False when somebody was faster. */
  use(ticket: string): Promise<boolean> {
    return this.store.use(sha256(ticket));
  }

  private async sweep(): Promise<{ restMs: number }> {
    if (!(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    await this.store.purge();
    return { restMs: SWEEP_EVERY_MS };
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Under the ticket, which is stored nowhere: six digits by themselves are found in a moment. */
function codeHash(ticket: string, code: string): Buffer {
  return sha256(`${ticket}:${code}`);
}
