import { Injectable } from '@nestjs/common';
import { Environments } from '#modules/auth/contract.js';
import { Targets, type Target } from '#modules/destinations/contract.js';
import { Ledger, type NewEvent } from '#modules/events/contract.js';
import { forwardedHeaderFaults, normalizeForwardedHeaders } from '#engine/headers.js';
import { memberSpan } from '#engine/payload-span.js';
import { ApiError, invalid } from '#kernel/errors.js';
import { Ids, idTimeMs, parseId, showId, type Id } from '#kernel/ids.js';
import type { Once } from '#kernel/once.js';
import type { Tenant } from '#kernel/tenant.js';
import { Tracing } from '#kernel/tracing.js';

/** A send as the edge hands it over: validated fields, and the request's text for the payload's characters. */
export interface SendRequest {
  destination: string;
  eventType: string;
  headers: Record<string, string> | undefined;
  bodyText: string;
  once: Once | null;
  traceparent: string | undefined;
}

const PAYLOAD_BYTES_MAX = 1024 * 1024;
const DAY_MS = 86_400_000;
const ACCEPTED_STATUS = 202;

/** Accepts messages: one payload for one target, committed before it is answered. */
@Injectable()
export class SendService {
  constructor(
    private readonly targets: Targets,
    private readonly environments: Environments,
    private readonly ledger: Ledger,
    private readonly ids: Ids,
    private readonly tracing: Tracing,
  ) {}

  /** Returns the accepted event's id. Throws 413 for a payload over 1 MB and 422 for a target or header that can't be. */
  async send(tenant: Tenant, request: SendRequest): Promise<Id> {
    const headers = request.headers && Object.keys(request.headers).length > 0 ? checkedHeaders(request.headers) : null;
    const payload = payloadOf(request.bodyText);
    const payloadBytes = Buffer.byteLength(payload);
    if (payloadBytes > PAYLOAD_BYTES_MAX) {
      throw new ApiError('payload_too_large', `The payload has ${payloadBytes} bytes; at most ${PAYLOAD_BYTES_MAX} are taken.`);
    }
    const target = await this.target(tenant, request.destination);
    const { retentionDays } = await this.environments.get(tenant.environmentId);
    const span = this.tracing.startAccept(request.traceparent, request.eventType);
    const id = this.ids.next();
    const event: NewEvent = {
      environmentId: tenant.environmentId,
      id,
      expiresOnDay: Math.floor(idTimeMs(id) / DAY_MS) + retentionDays,
      targetId: target.targetId,
      url: target.destinationId === null ? (target.url?.href ?? null) : null,
      eventType: request.eventType,
      headers,
      traceparent: span.traceparent,
      payload,
      payloadBytes,
      pulled: this.targets.adapter(target.type).pulled,
      ratePerSecond: target.ratePerSecond,
      once: request.once && { request: request.once, status: ACCEPTED_STATUS, body: acceptedBody(id) },
    };
    await this.ledger.accept(event);
    span.end('accepted');
    return id;
  }

  /** A destination of another environment is one that does not exist. */
  private async target(tenant: Tenant, destination: string): Promise<Target> {
    if (!destination.startsWith('dst_')) return this.targets.ofUrl(tenant.environmentId, destination);
    const id = parseId('dst', destination);
    const target = id && (await this.targets.ofDestination(tenant.environmentId, id));
    if (!target) throw invalid([{ path: 'destination', message: 'There is no such destination.' }]);
    if (target.status === 'disabled') {
      const reason = target.disabledReason ? ` (${target.disabledReason})` : '';
      throw invalid([{ path: 'destination', message: `The destination is disabled${reason}. Enable it with PATCH first.` }]);
    }
    return target;
  }
}

/** The answer of a send, as text: an idempotency key repeats it byte for byte. */
export function acceptedBody(id: Id): string {
  return `{"message_id":"${showId('msg', id)}"}`;
}

function payloadOf(bodyText: string): string {
  const span = memberSpan(bodyText, 'payload');
  if (!span) throw invalid([{ path: 'payload', message: 'is required' }]);
  return bodyText.slice(span.start, span.end);
}

function checkedHeaders(headers: Record<string, string>): Record<string, string> {
  const faults = forwardedHeaderFaults(headers);
  if (faults.length > 0) throw invalid(faults);
  return normalizeForwardedHeaders(headers);
}
