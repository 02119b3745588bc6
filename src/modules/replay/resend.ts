import { Injectable } from '@nestjs/common';
import { noSuch } from '#kernel/errors.js';
import { type Id, idAfter, parseId, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Applications } from '#modules/applications/applications.js';
import { MessagesStore } from '#modules/events/messages.store.js';
import { SentStore } from '#modules/events/sent.store.js';
import { FAN_OUT_MAX } from '#modules/ledger/accept.contract.js';
import { ReplayService } from './replay.service.js';

@Injectable()
export class Resend {
  constructor(
    private readonly applications: Applications,
    private readonly messages: MessagesStore,
    private readonly sent: SentStore,
    private readonly replays: ReplayService,
  ) {}

  /**
   * Resends a message to an endpoint. Throws 404 if the message does not belong to the application or was not sent to
   * the endpoint, and 409 if its payload was erased or the endpoint accepts no deliveries.
   */
  async message(tenant: Tenant, application: string, message: string, endpoint: string): Promise<Id> {
    const { environmentId } = tenant;
    const { id: endpointId, applicationId } = await this.applications.endpoint(environmentId, application, endpoint);
    const messageId = parseId('msg', message);
    const found = messageId === null ? null : await this.messages.find(tenant, messageId);
    if (messageId === null || found?.applicationId !== applicationId) throw noSuch('message');
    // The ids of a fan-out's events directly follow the id of the message.
    const range = {
      environmentId,
      endpointIds: [endpointId],
      fromId: messageId,
      beforeId: idAfter(messageId, FAN_OUT_MAX + 1),
    };
    const [event] = await this.sent.page(range, 1);
    if (!event) throw noSuch('message of this endpoint');
    return this.replays.event(tenant, showId('evt', event.id));
  }
}
