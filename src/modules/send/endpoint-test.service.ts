import { Injectable } from '@nestjs/common';
import { Applications, EndpointConditions } from '#modules/applications/contract.js';
import { type Target, Targets } from '#modules/destinations/contract.js';
import { Ledger, type AttemptRow } from '#modules/ledger/accept.contract.js';
import { Clock } from '#kernel/clock.js';
import { conflict } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { SendBasics } from './send-basics.js';
import { TEST_TYPE, TEST_WAIT_MS, testPayload } from './test-event.service.js';

/** What a caller wants tried: `application` and `endpoint` by their ids or uids. */
export interface EndpointTest {
  application: string;
  endpoint: string;
  eventType?: string;
}

/** Which endpoint, and whether it takes anything. */
@Injectable()
export class TestedEndpoints {
  constructor(
    private readonly applications: Applications,
    private readonly conditions: EndpointConditions,
    private readonly targets: Targets,
  ) {}

  /** Throws 404, and 409 for an endpoint that takes nothing now. */
  async find(environmentId: number, { application, endpoint }: EndpointTest): Promise<{ applicationId: Id; id: Id; target: Target }> {
    const { applicationId, id, destinationId } = await this.applications.endpoint(environmentId, application, endpoint);
    const { status, disabledReason } = await this.conditions.of(environmentId, id);
    const because = disabledReason ? ` (${disabledReason})` : '';
    if (status === 'disabled') throw conflict(`The endpoint is disabled${because}. Enable it with PATCH first.`);
    const target = await this.targets.ofDestination(environmentId, destinationId);
    if (target === null) throw conflict('The destination of the endpoint was deleted. Give it another one with PATCH first.');
    if (target.status === 'disabled') throw conflict('The destination of the endpoint is disabled. Enable it with PATCH first.');
    return { applicationId, id, target };
  }

  isPulled(target: Target): boolean {
    return this.targets.adapter(target.type).pulled;
  }
}

/** Sends a test event to one endpoint of an application, whatever it subscribes to, and waits for its first attempt. */
@Injectable()
export class EndpointTestService {
  constructor(
    private readonly endpoints: TestedEndpoints,
    private readonly ledger: Ledger,
    private readonly basics: SendBasics,
    private readonly clock: Clock,
  ) {}

  /** Throws 404, and 409 for an endpoint that takes nothing now. */
  async run(tenant: Tenant, test: EndpointTest): Promise<{ messageId: Id; attempt: AttemptRow | null }> {
    const { environmentId } = tenant;
    const { eventType = TEST_TYPE } = test;
    const { applicationId, id: endpointId, target } = await this.endpoints.find(environmentId, test);
    const payload = JSON.stringify(testPayload(eventType, this.clock.now(), 'endpoint'));
    const pulled = this.endpoints.isPulled(target);
    const [messageId = '', eventId = ''] = this.basics.ids.block(2);
    const span = this.basics.tracing.startAccept(undefined, eventType);
    const { targetId, ratePerSecond, concurrency } = target;
    await this.ledger.fanOut({
      environmentId, id: messageId, applicationId, eventType, channels: [], headers: null, traceparent: span.traceparent, once: null,
      expiresOnDay: await this.basics.expiresOnDay(environmentId, messageId), payload, payloadBytes: Buffer.byteLength(payload),
      events: [{ environmentId, eventId, endpointId, targetId, payload, pulled, ratePerSecond, concurrency, refused: false }],
    });
    span.end('accepted');
    return { messageId, attempt: await this.ledger.firstAttempt(tenant, eventId, pulled ? 0 : TEST_WAIT_MS) };
  }
}
