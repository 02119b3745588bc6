import { Injectable } from '@nestjs/common';
import { conflict, invalid, noSuch } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import { momentMs } from '#kernel/moment.js';
import type { Tenant } from '#kernel/tenant.js';
import { Erase } from '#modules/events/erasure/erase.js';
import { AttachedContents } from '#modules/events/erasure/erased-contents.js';
import { EventSources } from '#modules/events/event-sources.js';
import { RequestsStore } from '#modules/events/requests.store.js';
import { Redeliveries } from '#modules/ledger/redeliveries.js';
import {
  type Addressee,
  type FindObstacle,
  type Redelivery,
  type Resent,
} from '#modules/ledger/redelivery.contract.js';
import { NamedTargets } from './named-targets.js';

@Injectable()
export class ReplayService {
  constructor(
    private readonly redeliveries: Redeliveries,
    private readonly sources: EventSources,
    private readonly requests: RequestsStore,
    private readonly erasures: Erase,
    private readonly contents: AttachedContents,
    private readonly named: NamedTargets,
  ) {}

  /**
   * Resends an event and returns the event's id. `text` is an `evt_` id or the `msg_` id of a send. `destinations`
   * limits the replay to some of the original destinations. Throws 404 for an unknown event. Throws 409 if the payload
   * was erased or was deleted by a cancellation, if the event has no targets, or if none of them accepts deliveries now.
   * Throws 422 for a destination to which the event was not sent.
   */
  async event(tenant: Tenant, text: string, destinations?: readonly string[]): Promise<Id> {
    const eventId = parseId('evt', text) ?? parseId('msg', text);
    if (eventId === null) throw noSuch('event');
    if ((await this.erasures.erasedAt(tenant.environmentId, eventId)) !== null) {
      throw conflict('The payload of the event was erased: there is nothing to send again.', { reason: 'erased' });
    }
    const named = destinations && (await this.named.listed(tenant, destinations));
    const resent = await this.redeliveries.redeliverEvent(tenant, eventId, this.obstacleIn(tenant), async (went) => {
      if ((await this.contents.canceledAmong(tenant.environmentId, went)).size > 0)
        throw conflict('The email was canceled: there is nothing to send.', { reason: 'cancelled' });
      return named ? chosen(went, named) : went;
    });
    refuseWhenNothingWasTaken(resent);
    if (resent.made > 0) return eventId;
    const request = await this.requests.find(tenant.environmentId, eventId);
    if (request === null) throw noSuch('event');
    throw conflict(
      `The event is ${request.status} and went nowhere. Replay its raw request instead: that verifies and routes it anew.`,
    );
  }

  /** Resends dead letters. Throws 409 if there are dead letters, but no target of them currently accepts deliveries. */
  async deadLetters(tenant: Tenant, filter: { endpoint?: string; since?: string }): Promise<Resent> {
    const sinceMs = filter.since === undefined ? undefined : momentMs(filter.since, 'since');
    const aim = filter.endpoint === undefined ? {} : await this.aim(tenant, filter.endpoint);
    const resent = await this.redeliveries.redeliverDeadLetters(tenant, { ...aim, sinceMs }, this.obstacleIn(tenant));
    refuseWhenNothingWasTaken(resent);
    return resent;
  }

  private obstacleIn({ environmentId }: Tenant): FindObstacle {
    return ({ targetId, endpointId, isAdHoc }) =>
      isAdHoc ? Promise.resolve(null) : this.named.reasonAgainst(environmentId, targetId, endpointId);
  }

  private async aim(tenant: Tenant, text: string): Promise<Pick<Redelivery, 'targetId' | 'endpointId'>> {
    const targetId = parseId('dst', text);
    if (targetId !== null) return { targetId };
    const aim = await this.sources.aim(tenant.environmentId, text);
    if (aim === null)
      throw invalid([
        { path: 'endpoint', message: 'must be the id of a destination, or the id or path of an endpoint' },
      ]);
    return aim;
  }
}

/**
 * Returns the original targets that `named` contains. Throws 422 if `named` contains null (an invalid id), or a target
 * that is not an original one.
 */
function chosen<T extends Addressee>(went: readonly T[], named: readonly (Id | null)[]): T[] {
  const targets = new Set<Id | null>(went.map(({ targetId }) => targetId));
  const faults = named.flatMap((id, i) =>
    targets.has(id) ? [] : [{ path: `destinations.${i}`, message: 'is no destination that the event went to' }],
  );
  if (faults.length > 0) throw invalid(faults);
  return went.filter(({ targetId }) => named.includes(targetId));
}

function refuseWhenNothingWasTaken({ made, obstacle }: Resent): void {
  if (made === 0 && obstacle !== null) throw conflict(`${obstacle} Change that first.`, { reason: 'disabled' });
}
