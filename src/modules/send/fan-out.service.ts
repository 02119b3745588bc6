import { Injectable } from '@nestjs/common';
import { Applications, type Subscriber } from '#modules/applications/contract.js';
import { Targets, type Target } from '#modules/destinations/contract.js';
import { EventTypes } from '#modules/event-types/contract.js';
import { Ledger, type FannedOut } from '#modules/ledger/accept.contract.js';
import { RequestView } from '#engine/conditions/request-view.js';
import { channelFault } from '#engine/subscription.js';
import { invalid } from '#kernel/errors.js';
import { showId, type Id } from '#kernel/ids.js';
import type { Once } from '#kernel/idempotency.js';
import type { Tenant } from '#kernel/tenant.js';
import { messageContent, type MessageContent } from './message.js';
import { SendBasics } from './send-basics.js';

/** A fan-out as the edge hands it over. */
export interface FanOutRequest {
  /** An `app_` id, or the caller's uid. */
  application: string;
  eventType: string;
  channels: readonly string[];
  headers: Record<string, string> | undefined;
  /** The same payload as in `bodyText`, parsed: what an enforced schema is held against. */
  payload: Record<string, unknown>;
  bodyText: string;
  once: Once | null;
  traceparent: string | undefined;
}

const ACCEPTED_STATUS = 202;

/** Accepts a message for every endpoint of an application that subscribes to it: all of them in one commit, or none. */
@Injectable()
export class FanOutService {
  constructor(
    private readonly applications: Applications,
    private readonly targets: Targets,
    private readonly ledger: Ledger,
    private readonly basics: SendBasics,
    private readonly types: EventTypes,
  ) {}

  /** Returns the answer's text. Throws 404 for an unknown `app_` id, 413 for a payload over 1 MB, and 422, also for a payload that breaks its type's enforced schema. */
  async emit(tenant: Tenant, request: FanOutRequest): Promise<string> {
    const { environmentId } = tenant;
    const { eventType, channels, once } = request;
    const faults = channels.map((channel, i) => ({ path: `channels.${i}`, message: channelFault(channel) ?? '' })).filter(({ message }) => message !== '');
    if (faults.length > 0) throw invalid(faults);
    const content = messageContent(request.bodyText, request.headers);
    const checked = this.types.check(environmentId, eventType, request.payload);
    if (checked) await checked;
    const traits = { eventType, channels, view: viewOf(content) };
    const { applicationId, subscribers } = await this.applications.subscribers(environmentId, request.application, traits);
    const targets = await this.targets.ofDestinations(environmentId, subscribers.map(({ destinationId }) => destinationId));
    const [id = '', ...eventIds] = this.basics.ids.block(subscribers.length + 1);
    const span = this.basics.tracing.startAccept(request.traceparent, eventType);
    const body = emittedBody(id, subscribers.length);
    await this.ledger.fanOut({
      environmentId, id, applicationId, eventType, channels, ...content,
      expiresOnDay: await this.basics.expiresOnDay(environmentId, id),
      traceparent: span.traceparent,
      events: subscribers.map((subscriber, i) => ({
        messageId: id, eventId: eventIds[i] ?? '', payload: content.payload, ...this.towards(environmentId, subscriber, targets[i] ?? null),
      })),
      once: once && { request: once, status: ACCEPTED_STATUS, body },
    });
    span.end('accepted');
    return body;
  }

  /** A target that can't be loaded right now keeps no event back: its attempt finds out. */
  private towards(
    environmentId: number, { id, destinationId, isActive }: Subscriber, target: Target | null,
  ): Omit<FannedOut, 'messageId' | 'eventId' | 'payload'> {
    return {
      environmentId,
      endpointId: id,
      targetId: destinationId,
      pulled: target !== null && this.targets.adapter(target.type).pulled,
      ratePerSecond: target?.ratePerSecond ?? null,
      concurrency: target?.concurrency ?? null,
      refused: !isActive || target?.status === 'disabled',
    };
  }
}

/** The answer, as text: an idempotency key repeats it byte for byte. */
function emittedBody(id: Id, fanout: number): string {
  return `{"message_id":"${showId('msg', id)}","fanout":${fanout}}`;
}

/** The payload and headers as filters look at them; made once, for however many endpoints. */
function viewOf({ payload, headers }: MessageContent): () => RequestView {
  let view: RequestView | null = null;
  const request = { method: 'POST', path: '', query: '', url: '', ip: '' };
  const all = (): [string, string][] => [...Object.entries(headers ?? {}), ['content-type', 'application/json']];
  return () => (view ??= new RequestView({ ...request, headers: all(), body: Buffer.from(payload) }, 'none'));
}
