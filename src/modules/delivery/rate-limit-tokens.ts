import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import type { Id } from '#kernel/ids.js';
import { targetKey } from './circuit-watch.js';
import { RateLimitTokensStore } from './rate-limit-tokens.store.js';

/** Tokens of one target that this worker has taken but not yet used. */
interface Allotment {
  permits: number;
  expiresAtMs: number;
  drawing: boolean;
  notBeforeMs: number;
}

/**
 * Number of times per second that a worker draws tokens from the database. Each draw takes the tokens for 1/20 s, so
 * that workers share a rate evenly.
 */
const DRAWS_PER_SECOND = 20;
/**
 * Lifetime of unused tokens in milliseconds. Without a limit, tokens could accumulate and allow a burst of deliveries
 * above the rate.
 */
const PURSE_LIFETIME_MS = 500;
const PURSES_MAX = 10_000;

/**
 * Rate limits of destinations, shared by all workers. PostgreSQL grants small allotments of tokens, which are consumed
 * without waiting. If no token is left, the caller parks the delivery.
 */
@Injectable()
export class RateLimitTokens {
  private readonly logger = new Logger(RateLimitTokens.name);
  private readonly purses = new Map<string, Allotment>();

  constructor(
    private readonly store: RateLimitTokensStore,
    private readonly clock: Clock,
  ) {}

  /** Consumes up to `wanted` tokens and returns the number consumed. A low allotment is refilled in the background. */
  consume(environmentId: number, targetId: Id, perSecond: number, wanted: number): number {
    const key = targetKey(environmentId, targetId);
    const nowMs = this.clock.nowMs();
    const purse = this.allotment(key);
    if (purse.expiresAtMs <= nowMs) purse.permits = 0;
    const spent = Math.min(purse.permits, wanted);
    purse.permits -= spent;
    const draw = Math.max(1, Math.ceil(perSecond / DRAWS_PER_SECOND));
    if (purse.permits <= draw / 2 && !purse.drawing && purse.notBeforeMs <= nowMs) {
      purse.drawing = true;
      void this.fill(environmentId, targetId, { perSecond, draw }, purse);
    }
    return spent;
  }

  /** Takes back tokens that `consume` returned but the caller did not use. They expire together with the allotment. */
  giveBack(environmentId: number, targetId: Id, unused: number): void {
    this.allotment(targetKey(environmentId, targetId)).permits += unused;
  }

  private allotment(key: string): Allotment {
    let purse = this.purses.get(key);
    if (!purse) {
      purse = { permits: 0, expiresAtMs: 0, drawing: false, notBeforeMs: 0 };
      this.purses.set(key, purse);
      if (this.purses.size > PURSES_MAX) this.purses.delete(this.purses.keys().next().value as string);
    }
    return purse;
  }

  private async fill(
    environmentId: number,
    targetId: Id,
    quota: { perSecond: number; draw: number },
    allotment: Allotment,
  ): Promise<void> {
    try {
      const burst = Math.max(1, quota.perSecond / 10);
      const granted = await this.store.draw(environmentId, targetId, {
        perSecond: quota.perSecond,
        burst,
        wanted: quota.draw,
      });
      const nowMs = this.clock.nowMs();
      allotment.permits += granted;
      allotment.expiresAtMs = nowMs + PURSE_LIFETIME_MS;
      allotment.notBeforeMs = granted > 0 ? nowMs : nowMs + Math.min(1000 / quota.perSecond / 2, 200);
    } catch (error) {
      this.logger.warn(`Drawing rate-limit permits failed: ${(error as Error).message}`);
      allotment.notBeforeMs = this.clock.nowMs() + 1000;
    } finally {
      allotment.drawing = false;
    }
  }
}
