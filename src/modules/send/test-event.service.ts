import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { noSuch } from '#kernel/errors.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Targets } from '#modules/destinations/targets.js';
import { type AttemptRow } from '#modules/events/attempts.contract.js';
import { AttemptLog } from '#modules/events/attempts/attempt-log.js';
import { SendService } from './send.service.js';

/**
 * Maximum wait for the first attempt. The attempt may take 15 seconds, and 5 seconds remain for queueing and recording.
 */
export const TEST_WAIT_MS = 20_000;

export const TEST_TYPE = 'posthorn.test';

@Injectable()
export class TestEventService {
  constructor(
    private readonly sending: SendService,
    private readonly targets: Targets,
    private readonly attempts: AttemptLog,
    private readonly clock: Clock,
    private readonly database: Database,
  ) {}

  /**
   * Sends a test event and waits for its first attempt. Throws 404 for an unknown destination and 422 for a disabled
   * one. `answer` returns the response that is stored for the idempotency key when the event is committed. After a
   * crash, a repeated request returns this response and sends no second event.
   */
  async run(
    tenant: Tenant,
    destination: string,
    idempotency: IdempotentRequest | null,
    answer: (eventId: Id) => StoredAnswer,
  ): Promise<{ eventId: Id; attempt: AttemptRow | null }> {
    const id = parseId('dst', destination);
    const target = id && (await this.targets.ofListed(tenant.environmentId, id));
    if (!target) throw noSuch('destination');
    const payload = testPayload(TEST_TYPE, this.clock.now(), 'destination');
    const eventId = await this.sending.send(tenant, {
      destination,
      eventType: TEST_TYPE,
      headers: undefined,
      bodyText: JSON.stringify({ payload }),
      idempotency,
      answer,
      traceparent: undefined,
    });
    // Commits before the wait, because workers see only committed events.
    await this.database.commitEarly();
    const waitMs = this.targets.adapter(target.type).pulled ? 0 : TEST_WAIT_MS;
    return { eventId, attempt: await this.attempts.first(tenant, eventId, waitMs) };
  }
}

export function testPayload(
  type: string,
  at: Date,
  what: 'destination' | 'endpoint',
): { type: string; timestamp: string; data: { message: string } } {
  return {
    type,
    timestamp: at.toISOString(),
    data: { message: `This is a test event. It reached you, so the ${what} works.` },
  };
}
