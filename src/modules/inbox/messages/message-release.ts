import { Injectable } from '@nestjs/common';
import { RequestView } from '#engine/conditions/request-view.js';
import { Database } from '#kernel/database/database.js';
import { conflict, noSuch } from '#kernel/errors.js';
import { type Id, idAfter, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { ReceivedStore } from '#modules/events/received.store.js';
import { Redeliveries } from '#modules/ledger/redeliveries.js';
import { AliasRouting, routesOf } from '../aliases/alias-routing.js';
import { AliasesService } from '../aliases/aliases.service.js';
import { MessagesStore } from './messages.store.js';

/** Delivers quarantined messages after a manual review. Verdicts stay unchanged, and no check is repeated. */
@Injectable()
export class MessageRelease {
  constructor(
    private readonly aliases: AliasesService,
    private readonly messages: MessagesStore,
    private readonly routing: AliasRouting,
    private readonly received: ReceivedStore,
    private readonly redeliveries: Redeliveries,
    private readonly database: Database,
  ) {}

  /**
   * Delivers a quarantined message. Throws 404 for an unknown message, and 409 if it is not quarantined or its alias
   * has no destination.
   */
  async release(tenant: Tenant, alias: string, text: string): Promise<void> {
    const found = await this.aliases.find(tenant, alias);
    const id = parseId('evt', text);
    const message = id === null ? null : await this.messages.find(tenant.environmentId, found.id, id);
    if (id === null || message === null || message.erasedAt !== null) throw noSuch('message');
    if (message.state !== 'quarantined') throw notQuarantined();
    const { expiresOn, targets } = await this.destinationsOf(tenant.environmentId, found, id);
    await this.database.transaction(async () => {
      if (!(await this.messages.release(tenant.environmentId, id))) throw notQuarantined();
      await this.redeliveries.admit(tenant.environmentId, { id, expiresOn });
      await this.redeliveries.redeliverTo(
        tenant.environmentId,
        targets.map((targetId) => ({ eventId: id, expiresOn, targetId, endpointId: found.id })),
      );
    });
  }

  private async destinationsOf(
    environmentId: number,
    alias: Awaited<ReturnType<AliasesService['find']>>,
    id: Id,
  ): Promise<{ expiresOn: string; targets: Id[] }> {
    const [event] = await this.received.page(
      { environmentId, endpointId: alias.id, status: null, fromId: id, beforeId: idAfter(id, 1) },
      1,
      true,
    );
    if (event?.request == null) throw noSuch('message');
    const targets = await this.routing.matching(
      routesOf(alias),
      new RequestView(event.request, event.request.verification),
    );
    if (targets === null || targets.length === 0)
      throw conflict('No destination of the alias takes this message. Give the alias one first.', {
        reason: 'no_destination',
      });
    return { expiresOn: event.expiresOn, targets };
  }
}

const notQuarantined = () => conflict('The message is not quarantined.', { reason: 'not_quarantined' });
