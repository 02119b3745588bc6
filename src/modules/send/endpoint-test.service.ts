import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { conflict } from '#kernel/errors.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { type Id, Ids } from '#kernel/ids.js';
import { Tracing } from '#kernel/observability/tracing.js';
import type { Tenant } from '#kernel/tenant.js';
import { Applications } from '#modules/applications/applications.js';
import { EndpointConditions } from '#modules/applications/endpoint-conditions.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { type Target } from '#modules/destinations/contract.js';
import { Targets } from '#modules/destinations/targets.js';
import { type AttemptRow } from '#modules/events/attempts.contract.js';
import { AttemptLog } from '#modules/events/attempts/attempt-log.js';
import { Ledger } from '#modules/ledger/ledger.js';
import { TEST_TYPE, TEST_WAIT_MS, testPayload } from './test-event.service.js';

/** The endpoint to test. `application` and `endpoint` are ids or uids. */
export interface EndpointTest {
  application: string;
  endpoint: string;
  eventType?: string;
}

/**
 * A request to test an endpoint. `answer` returns the response that is stored for the idempotency key when the test
 * event is committed.
 */
export interface EndpointTestCall extends EndpointTest {
  idempotency: IdempotentRequest | null;
  answer: (messageId: Id) => StoredAnswer;
}

@Injectable()
export class TestedEndpoints {
  constructor(
    private readonly applications: Applications,
    private readonly conditions: EndpointConditions,
    private readonly targets: Targets,
  ) {}

  /** Finds the endpoint to test. Throws 404 for an unknown endpoint, and 409 if it currently accepts no deliveries. */
  async find(
    environmentId: number,
    { application, endpoint }: EndpointTest,
  ): Promise<{ applicationId: Id; id: Id; target: Target }> {
    const { applicationId, id, destinationId } = await this.applications.endpoint(environmentId, application, endpoint);
    const { status, disabledReason } = await this.conditions.find(environmentId, id);
    const because = disabledReason ? ` (${disabledReason})` : '';
    if (status === 'disabled') throw conflict(`The endpoint is disabled${because}. Enable it with PATCH first.`);
    const target = await this.targets.ofDestination(environmentId, destinationId);
    if (target === null)
      throw conflict('The destination of the endpoint was deleted. Give it another one with PATCH first.');
    if (target.status === 'disabled')
      throw conflict('The destination of the endpoint is disabled. Enable it with PATCH first.');
    return { applicationId, id, target };
  }

  isPulled(target: Target): boolean {
    return this.targets.adapter(target.type).pulled;
  }
}

/** Sends a test event, regardless of the endpoint's subscriptions, and waits for the first attempt. */
@Injectable()
export class EndpointTestService {
  constructor(
    private readonly endpoints: TestedEndpoints,
    private readonly ledger: Ledger,
    private readonly attempts: AttemptLog,
    private readonly retention: Retention,
    private readonly ids: Ids,
    private readonly tracing: Tracing,
    private readonly clock: Clock,
    private readonly database: Database,
  ) {}

  /**
   * Returns the first attempt, or null if none is made in time. Throws 404 for an unknown endpoint, and 409 if it
   * accepts no deliveries.
   */
  async run(tenant: Tenant, test: EndpointTestCall): Promise<{ messageId: Id; attempt: AttemptRow | null }> {
    const { environmentId } = tenant;
    const { eventType = TEST_TYPE, idempotency, answer } = test;
    const { applicationId, id: endpointId, target } = await this.endpoints.find(environmentId, test);
    const payload = JSON.stringify(testPayload(eventType, this.clock.now(), 'endpoint'));
    const pulled = this.endpoints.isPulled(target);
    const [messageId = '', eventId = ''] = this.ids.block(2);
    const expiresOnDay = await this.retention.expiresOnDay(environmentId, messageId);
    const span = this.tracing.startAccept(undefined, eventType);
    const { targetId, ratePerSecond, concurrency } = target;
    const accepting = this.ledger.fanOut({
      environmentId,
      id: messageId,
      applicationId,
      eventType,
      channels: [],
      headers: null,
      traceparent: span.traceparent,
      idempotency: idempotency && { request: idempotency, ...answer(messageId) },
      expiresOnDay,
      payload,
      payloadBytes: Buffer.byteLength(payload),
      events: [
        { environmentId, eventId, endpointId, targetId, payload, pulled, ratePerSecond, concurrency, refused: false },
      ],
    });
    // Commits before the wait, because workers see only committed events.
    await span.during(accepting.then(() => this.database.commitEarly()));
    span.end('accepted');
    return { messageId, attempt: await this.attempts.first(tenant, eventId, pulled ? 0 : TEST_WAIT_MS) };
  }
}
