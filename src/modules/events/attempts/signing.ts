import { Injectable } from '@nestjs/common';
import { withoutConfigured } from '#engine/headers.js';
import { requestLineOf } from '#engine/inbound/forwarded-url.js';
import { Clock } from '#kernel/clock.js';
import { HIDDEN } from '#kernel/crypto/sensitive-headers.js';
import { ApiError, conflict, noSuch } from '#kernel/errors.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type SignedRequest, type Target } from '#modules/destinations/contract.js';
import { Targets } from '#modules/destinations/targets.js';
import { shownDelivery } from '../attempts.contract.js';
import { EventLookup } from '../event-lookup.js';
import type { EventRow } from '../event-rows.js';
import { type DeliveryRow, type EventContent, EventsStore } from '../events.store.js';

export interface SignedDelivery {
  delivery: string;
  request: SignedRequest;
  atMs: number;
}

/** Signs stored deliveries, so that users can send them manually. */
@Injectable()
export class Signing {
  constructor(
    private readonly lookup: EventLookup,
    private readonly store: EventsStore,
    private readonly targets: Targets,
    private readonly clock: Clock,
  ) {}

  /**
   * Signs the delivery with the id `named`. Without `named`, signs the event's latest delivery. Hides header values
   * that contain a named secret. Throws 404 for an unknown delivery or an erased payload. Throws 409 if the
   * destination's type has no signature.
   */
  async sign(tenant: Tenant, eventId: Id, named: string | undefined): Promise<SignedDelivery> {
    const event = await this.lookup.find(tenant, eventId);
    if (event === null) throw noSuch('event');
    if (event.erasedAt !== null)
      throw new ApiError('not_found', 'The payload was erased.', {
        reason: 'erased',
        erased_at: event.erasedAt.toISOString(),
      });
    const deliveries = await this.store.deliveries(tenant, event);
    const delivery =
      named === undefined
        ? deliveries.at(-1)
        : deliveries.find(({ ordinal }) => shownDelivery(event.id, ordinal) === named);
    if (delivery === undefined) throw noSuch('delivery');
    const target = await this.targets.ofDelivery(tenant.environmentId, {
      targetId: delivery.targetId,
      url: event.direction === 'outbound' ? event.url : null,
    });
    if (target === null) throw conflict('The destination of this delivery no longer exists or may no longer be used.');
    const atMs = this.clock.nowMs();
    const request = this.targets.adapter(target.type).signed({ ...signable(event, delivery, target), atMs }, target);
    if (request === null) throw conflict(`A delivery to a destination of type ${target.type} is not a signed request.`);
    return {
      delivery: shownDelivery(event.id, delivery.ordinal),
      request: { ...request, headers: withoutSecrets(request.headers, target) },
      atMs,
    };
  }
}

function signable(event: EventRow & EventContent, { replayed }: DeliveryRow, { headers: configured }: Target) {
  const headers =
    event.headers !== null && event.direction === 'inbound'
      ? withoutConfigured(event.headers, configured)
      : event.headers;
  return {
    webhookId: showId(event.direction === 'inbound' ? 'evt' : 'msg', event.messageId ?? event.id),
    eventType: event.eventType,
    body: event.body ?? event.payload ?? '',
    headers,
    requestLine: requestLineOf(event),
    replayed,
    traceparent: null,
  };
}

/** Returns the headers with values of named secrets hidden, because the API never returns these values. */
function withoutSecrets(
  headers: Record<string, string>,
  { headers: own, secretHeaders }: Target,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretHeaders?.has(name) === true && own[name] === value ? HIDDEN : value,
    ]),
  );
}
