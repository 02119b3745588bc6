import { Injectable } from '@nestjs/common';
import { isRefused, type Mailbox, parseMailbox, suppressionKey } from '#engine/mail/addresses.js';
import { type CursorQuery, Cursors, type Page, type PageQuery } from '#kernel/cursors.js';
import { Database } from '#kernel/database/database.js';
import { badRequest, noSuch } from '#kernel/errors.js';
import { Ids } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { Subscription } from './contract.js';
import { TopicSubscriptionsStore } from './topic-subscriptions.store.js';
import type { TopicEntity, TopicSubscriptionEntity } from './topics.entities.js';
import { TopicsService } from './topics.service.js';

export interface SubscriptionQuery extends PageQuery {
  subscription?: Subscription;
}

/** The subscription of an address. `set` is null if only the topic's default applies. */
export interface SubscriptionView {
  topic: TopicEntity;
  email: string;
  set: TopicSubscriptionEntity | null;
}

const LIMIT_DEFAULT = 50;

@Injectable()
export class TopicSubscriptionsService {
  constructor(
    private readonly store: TopicSubscriptionsStore,
    private readonly topics: TopicsService,
    private readonly cursors: Cursors,
    private readonly database: Database,
    private readonly ids: Ids,
  ) {}

  /** Returns the subscriptions that were set, newest first. Throws 404 for an unknown topic, 400 for a bad cursor. */
  async list(tenant: Tenant, topic: string, query: SubscriptionQuery): Promise<Page<SubscriptionView>> {
    const found = await this.topics.find(tenant, topic);
    const { cursor, limit = LIMIT_DEFAULT, subscription = null } = query;
    const list: CursorQuery = { list: `subscriptions of ${found.id}`, filters: { subscription } };
    const beforeId = cursor === undefined ? null : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, found.id, { beforeId, subscription }, limit + 1);
    const { rows: page, nextCursor } = this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
    return { rows: page.map((set) => ({ topic: found, email: set.email, set })), nextCursor };
  }

  /** Returns the subscription of an address, or the topic's default. Throws 404 for an unknown topic. */
  async find(tenant: Tenant, topic: string, address: string): Promise<SubscriptionView> {
    const found = await this.topics.find(tenant, topic);
    const { address: email } = mailboxOf(address);
    return { topic: found, email, set: await this.store.find(tenant.environmentId, found.id, suppressionKey(email)) };
  }

  /** Sets the subscription of an address. Throws 404 for an unknown topic, and 400 for an invalid address. */
  async set(tenant: Tenant, topic: string, address: string, subscription: Subscription): Promise<SubscriptionView> {
    const { environmentId } = tenant;
    const { id: topicId } = await this.topics.find(tenant, topic);
    const { address: email } = mailboxOf(address);
    const row = {
      environmentId,
      topicId,
      address: suppressionKey(email),
      id: this.ids.next(),
      email,
      subscription,
      origin: 'api' as const,
      sourceId: null,
    };
    await this.database.transaction(() => this.store.set(row));
    return this.find(tenant, topic, address);
  }

  /** Removes a subscription, so that the topic's default applies. Throws 404 if none was set. */
  async remove(tenant: Tenant, topic: string, address: string): Promise<void> {
    const { id } = await this.topics.find(tenant, topic);
    const key = suppressionKey(mailboxOf(address).address);
    if (!(await this.store.remove(tenant.environmentId, id, key))) throw noSuch('subscription');
  }
}

/** Parses the address. Throws 400 instead of 422 for an invalid one, because the address is part of the path. */
function mailboxOf(address: string): Mailbox {
  const mailbox = parseMailbox(address);
  if (isRefused(mailbox)) throw badRequest(mailbox.refusal);
  return mailbox;
}
