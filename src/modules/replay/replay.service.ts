import { Injectable } from '@nestjs/common';
import { Ledger } from '#modules/events/contract.js';
import { invalid, notFound } from '#kernel/errors.js';
import { parseId, type Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

/** Sends again what was sent before, with its id and its body, marked as a replay. */
@Injectable()
export class ReplayService {
  constructor(private readonly ledger: Ledger) {}

  /** Takes an `evt_` id or the `msg_` id of a send. Throws 404. */
  async event(tenant: Tenant, text: string): Promise<Id> {
    const eventId = parseId('evt', text) ?? parseId('msg', text);
    if (eventId === null || (await this.ledger.redeliver(tenant, { eventId })) === 0) throw notFound('event');
    return eventId;
  }

  /** Returns how many dead letters are sent again. */
  async deadLetters(tenant: Tenant, filter: { endpoint?: string; since?: string }): Promise<number> {
    const targetId = filter.endpoint === undefined ? undefined : parseId('dst', filter.endpoint);
    if (targetId === null) throw invalid([{ path: 'endpoint', message: 'must be the id of a destination' }]);
    const sinceMs = filter.since === undefined ? undefined : Date.parse(filter.since);
    return this.ledger.redeliver(tenant, { targetId, sinceMs });
  }
}
