import { Injectable } from '@nestjs/common';
import { invalid } from '#kernel/errors.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { type Id, Ids, parseId, showId } from '#kernel/ids.js';
import { Tracing } from '#kernel/observability/tracing.js';
import type { Tenant } from '#kernel/tenant.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { type Target } from '#modules/destinations/contract.js';
import { Targets } from '#modules/destinations/targets.js';
import { EventTypes } from '#modules/event-types/event-types.js';
import { type Caller, type NewEvent } from '#modules/ledger/accept.contract.js';
import { AcceptancePolicies } from '#modules/ledger/acceptance-policies.js';
import { Ledger } from '#modules/ledger/ledger.js';
import { type MessageContent, messageContent } from './message.js';

/** A validated send request. `bodyText` is the request's text, from which the payload is extracted verbatim. */
export interface SendRequest {
  destination: string;
  eventType: string;
  headers: Record<string, string> | undefined;
  /** The parsed payload, for the schema check; undefined for Posthorn's own events, which have no schema. */
  payload?: unknown;
  bodyText: string;
  idempotency: IdempotentRequest | null;
  /** Returns the response to store for the idempotency key. Defaults to the response of a send. */
  answer?: (id: Id) => StoredAnswer;
  traceparent: string | undefined;
  /** Caller whose request waits for the response. Absent if no client is waiting. */
  caller?: Caller;
}

const ACCEPTED_STATUS = 202;

/** Accepts messages. Each message has one payload and one target, and is committed before the response is sent. */
@Injectable()
export class SendService {
  constructor(
    private readonly targets: Targets,
    private readonly types: EventTypes,
    private readonly ledger: Ledger,
    private readonly retention: Retention,
    private readonly ids: Ids,
    private readonly tracing: Tracing,
    private readonly acceptancePolicies: AcceptancePolicies,
  ) {}

  /**
   * Accepts a message and returns its id. Throws 413 for a payload over 1 MB, and 422 for an invalid target or header,
   * a payload that violates the enforced schema of its type, or a refusal by an extension's policy.
   */
  async send(tenant: Tenant, request: SendRequest): Promise<Id> {
    const content = messageContent(request.bodyText, request.headers);
    // Awaits only if something must be loaded, because an unconditional await would slow down every send.
    const checked =
      request.payload === undefined
        ? undefined
        : this.types.check(tenant.environmentId, request.eventType, request.payload);
    if (checked) await checked;
    const found = this.target(tenant, request.destination);
    const target = found instanceof Promise ? await found : found;
    const headers = this.acceptancePolicies.isRuled
      ? await this.ruledHeaders(tenant, request, content)
      : content.headers;
    const id = this.ids.next();
    const expiring = this.retention.expiresOnDay(tenant.environmentId, id);
    const expiresOnDay = typeof expiring === 'number' ? expiring : await expiring;
    const span = this.tracing.startAccept(request.traceparent, request.eventType);
    const event: NewEvent = {
      environmentId: tenant.environmentId,
      id,
      expiresOnDay,
      targetId: target.targetId,
      url: target.destinationId === null ? (target.url?.href ?? null) : null,
      eventType: request.eventType,
      traceparent: span.traceparent,
      payload: content.payload,
      payloadBytes: content.payloadBytes,
      headers,
      pulled: this.targets.adapter(target.type).pulled,
      ratePerSecond: target.ratePerSecond,
      concurrency: target.concurrency,
      idempotency: request.idempotency && { request: request.idempotency, ...(request.answer ?? accepted)(id) },
      caller: request.caller ?? null,
    };
    await span.during(this.ledger.accept(event));
    span.end('accepted', () => ({ 'messaging.message.id': showId('msg', id) }));
    return id;
  }

  private async ruledHeaders(
    tenant: Tenant,
    { destination, eventType }: SendRequest,
    { payload, headers }: MessageContent,
  ): Promise<MessageContent['headers']> {
    const added = await this.acceptancePolicies.rule({
      kind: 'send',
      tenant,
      to: destination,
      eventType,
      headers: headers ?? {},
      payload,
    });
    return added === null ? headers : { ...headers, ...added };
  }

  /** Returns the target. A destination of another environment is treated as nonexistent. */
  private target(tenant: Tenant, destination: string): Target | Promise<Target> {
    if (!destination.startsWith('dst_')) return this.targets.ofUrl(tenant.environmentId, destination);
    const id = parseId('dst', destination);
    const target = id === null ? null : this.targets.ofListed(tenant.environmentId, id);
    return target instanceof Promise ? target.then(sendable) : sendable(target);
  }
}

function sendable(target: Target | null): Target {
  if (!target) throw invalid([{ path: 'destination', message: 'There is no such destination.' }]);
  if (target.status === 'disabled') {
    const reason = target.disabledReason ? ` (${target.disabledReason})` : '';
    throw invalid([
      { path: 'destination', message: `The destination is disabled${reason}. Enable it with PATCH first.` },
    ]);
  }
  return target;
}

const accepted = (id: Id): StoredAnswer => ({ status: ACCEPTED_STATUS, body: acceptedBody(id) });

/** Returns text instead of an object, because a retry with the idempotency key must get the same bytes. */
export function acceptedBody(id: Id): string {
  return `{"message_id":"${showId('msg', id)}"}`;
}
