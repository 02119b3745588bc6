import { Injectable } from '@nestjs/common';
import { EventSources, Ledger, Requests, type Redelivery } from '#modules/ledger/accept.contract.js';
import { Withdrawal } from '#modules/events/recovery.contract.js';
import { conflict, invalid, notFound } from '#kernel/errors.js';
import { parseId, type Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { momentMs } from './moment.js';

/** Sends again what was sent before, with its id and its body, marked as a replay. */
@Injectable()
export class ReplayService {
  constructor(
    private readonly ledger: Ledger,
    private readonly sources: EventSources,
    private readonly requests: Requests,
    private readonly withdrawal: Withdrawal,
  ) {}

  /** Takes an `evt_` id or the `msg_` id of a send. Throws 404, and 409 for one without a payload or that went nowhere. */
  async event(tenant: Tenant, text: string): Promise<Id> {
    const eventId = parseId('evt', text) ?? parseId('msg', text);
    if (eventId === null) throw notFound('event');
    if ((await this.withdrawal.erasedAt(tenant.environmentId, eventId)) !== null) {
      throw conflict('The payload of the event was erased: there is nothing to send again.', { reason: 'erased' });
    }
    if ((await this.ledger.redeliver(tenant, { eventId })) > 0) return eventId;
    const request = await this.requests.find(tenant.environmentId, eventId);
    if (request === null) throw notFound('event');
    throw conflict(`The event is ${request.status} and went nowhere. Replay its raw request instead: that verifies and routes it anew.`);
  }

  /** Returns how many dead letters are sent again. */
  async deadLetters(tenant: Tenant, filter: { endpoint?: string; since?: string }): Promise<number> {
    const sinceMs = filter.since === undefined ? undefined : momentMs(filter.since, 'since');
    const aim = filter.endpoint === undefined ? {} : await this.aim(tenant, filter.endpoint);
    return this.ledger.redeliver(tenant, { ...aim, sinceMs });
  }

  private async aim(tenant: Tenant, text: string): Promise<Pick<Redelivery, 'targetId' | 'endpointId'>> {
    const targetId = parseId('dst', text);
    if (targetId !== null) return { targetId };
    const aim = await this.sources.aim(tenant.environmentId, text);
    if (aim === null) throw invalid([{ path: 'endpoint', message: 'must be the id of a destination, or the id or path of an endpoint' }]);
    return aim;
  }
}
