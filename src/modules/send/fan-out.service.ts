import { Injectable } from '@nestjs/common';
import { RequestView } from '#engine/conditions/request-view.js';
import { channelFault } from '#engine/subscription.js';
import { invalid } from '#kernel/errors.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';
import { type Id, Ids, showId } from '#kernel/ids.js';
import { Tracing } from '#kernel/observability/tracing.js';
import type { Tenant } from '#kernel/tenant.js';
import { Applications } from '#modules/applications/applications.js';
import { type Subscriber } from '#modules/applications/contract.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { type Target } from '#modules/destinations/contract.js';
import { Targets } from '#modules/destinations/targets.js';
import { EventTypes } from '#modules/event-types/event-types.js';
import { type Caller, type FannedOut } from '#modules/ledger/accept.contract.js';
import { AcceptancePolicies } from '#modules/ledger/acceptance-policies.js';
import { Ledger } from '#modules/ledger/ledger.js';
import { type MessageContent, messageContent } from './message.js';

export interface FanOutRequest {
  /** An `app_` id, or the caller's uid. */
  application: string;
  eventType: string;
  channels: readonly string[];
  headers: Record<string, string> | undefined;
  /** The parsed payload of `bodyText`. If the schema of the event type is enforced, the payload must match it. */
  payload: Record<string, unknown>;
  bodyText: string;
  idempotency: IdempotentRequest | null;
  traceparent: string | undefined;
  caller: Caller;
}

const ACCEPTED_STATUS = 202;

/** Accepts a message in one commit for all endpoints that subscribe to it, or for none. */
@Injectable()
export class FanOutService {
  constructor(
    private readonly applications: Applications,
    private readonly targets: Targets,
    private readonly types: EventTypes,
    private readonly ledger: Ledger,
    private readonly retention: Retention,
    private readonly ids: Ids,
    private readonly tracing: Tracing,
    private readonly acceptancePolicies: AcceptancePolicies,
  ) {}

  /**
   * Accepts a message for an application. Throws 404 for an unknown `app_` id, 413 for a payload over 1 MB, and 422 for
   * invalid input, including a payload that violates the enforced schema of its type.
   */
  async emit(tenant: Tenant, request: FanOutRequest): Promise<{ id: Id; body: string }> {
    const { environmentId } = tenant;
    const { eventType, channels, idempotency } = request;
    const faults = channels
      .map((channel, i) => ({ path: `channels.${i}`, message: channelFault(channel) ?? '' }))
      .filter(({ message }) => message !== '');
    if (faults.length > 0) throw invalid(faults);
    let content = messageContent(request.bodyText, request.headers);
    const checked = this.types.check(environmentId, eventType, request.payload);
    if (checked) await checked;
    if (this.acceptancePolicies.isRuled) content = await this.ruled(tenant, request, content);
    const traits = { eventType, channels, view: viewOf(content) };
    const { applicationId, subscribers } = await this.applications.subscribers(
      environmentId,
      request.application,
      traits,
    );
    const targets = await this.targets.ofDestinations(
      environmentId,
      subscribers.map(({ destinationId }) => destinationId),
    );
    const [id = '', ...eventIds] = this.ids.block(subscribers.length + 1);
    const expiresOnDay = await this.retention.expiresOnDay(environmentId, id);
    const span = this.tracing.startAccept(request.traceparent, eventType);
    const body = emittedBody(id, subscribers.length);
    const accepting = this.ledger.fanOut({
      environmentId,
      id,
      applicationId,
      eventType,
      channels,
      ...content,
      expiresOnDay,
      traceparent: span.traceparent,
      events: subscribers.map((subscriber, i) => ({
        messageId: id,
        eventId: eventIds[i] ?? '',
        payload: content.payload,
        ...this.towards(environmentId, subscriber, targets[i] ?? null),
      })),
      idempotency: idempotency && { request: idempotency, status: ACCEPTED_STATUS, body },
      caller: request.caller,
    });
    await span.during(accepting);
    span.end('accepted', () => ({
      'messaging.message.id': showId('msg', id),
      'posthorn.application.id': showId('app', applicationId),
    }));
    return { id, body };
  }

  /**
   * Returns the content with the headers that policies add. Must run before endpoint filters, because these read the
   * headers.
   */
  private async ruled(
    tenant: Tenant,
    { application, eventType }: FanOutRequest,
    content: MessageContent,
  ): Promise<MessageContent> {
    const { payload, headers } = content;
    const added = await this.acceptancePolicies.rule({
      kind: 'fan_out',
      tenant,
      to: application,
      eventType,
      headers: headers ?? {},
      payload,
    });
    return added === null ? content : { ...content, headers: { ...headers, ...added } };
  }

  /** Returns the event for an endpoint. If the target cannot be loaded now, the first attempt reports the problem. */
  private towards(
    environmentId: number,
    { id, destinationId, isActive, isDecided }: Subscriber,
    target: Target | null,
  ): Omit<FannedOut, 'messageId' | 'eventId' | 'payload'> {
    return {
      environmentId,
      endpointId: id,
      targetId: destinationId,
      pulled: target !== null && this.targets.adapter(target.type).pulled,
      ratePerSecond: target?.ratePerSecond ?? null,
      concurrency: target?.concurrency ?? null,
      refused: !isActive || target?.status === 'disabled',
      undecided: !isDecided,
    };
  }
}

/** Returns text instead of an object, because a retry with the idempotency key must get the same bytes. */
function emittedBody(id: Id, fanout: number): string {
  return `{"message_id":"${showId('msg', id)}","fanout":${fanout}}`;
}

/** Returns a function that parses payload and headers for filters, once for all endpoints. */
function viewOf({ payload, headers }: MessageContent): () => RequestView {
  let view: RequestView | null = null;
  const request = { method: 'POST', path: '', query: '', url: '', ip: '' };
  const all = (): [string, string][] => [...Object.entries(headers ?? {}), ['content-type', 'application/json']];
  return () => (view ??= new RequestView({ ...request, headers: all(), body: Buffer.from(payload) }, 'none'));
}
