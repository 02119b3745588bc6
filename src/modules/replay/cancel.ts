import { Injectable } from '@nestjs/common';
import { Withdrawal } from '#modules/events/recovery.contract.js';
import { Clock } from '#kernel/clock.js';
import { lowestIdAt } from '#kernel/ids.js';
import type { NamedTarget } from './named-targets.js';

/** Nothing has an id that is further ahead than clocks are apart. */
const AHEAD_MS = 60_000;

/** Cancels what waits for a target. */
@Injectable()
export class Cancel {
  constructor(
    private readonly withdrawal: Withdrawal,
    private readonly clock: Clock,
  ) {}

  /** Returns how many deliveries were ended, or end with the attempt that is under way. */
  waiting({ environmentId, targetId, endpointId }: NamedTarget, query: { event_type?: string; until?: string }): Promise<number> {
    const untilMs = query.until === undefined ? this.clock.nowMs() + AHEAD_MS : Date.parse(query.until);
    return this.withdrawal.cancelTarget({ environmentId, targetId, endpointId, eventType: query.event_type ?? null, beforeId: lowestIdAt(untilMs + 1) });
  }
}
