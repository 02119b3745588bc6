import { Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { Database, type Statement } from '#kernel/database/database.js';
import { TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import type { Subscription } from './contract.js';
import { type TopicEntity, TopicSubscriptionEntity } from './topics.entities.js';

export type NewSubscription = Omit<TopicSubscriptionEntity, 'createdAt' | 'updatedAt'>;

/** A topic, and the subscription of an address to it: the topic's default if none was set for the address. */
export interface EffectiveSubscription extends Pick<TopicEntity, 'key' | 'name'> {
  subscription: Subscription;
}

/**
 * Selects the subscription of an address, or the topic's default if none was set. Returns no row if the topic does not
 * exist. Uses topics_pkey and topic_subscriptions_pkey.
 */
const EFFECTIVE: Statement = {
  name: 'topic_subscriptions_effective',
  text: `
    select t.key, t.name, coalesce(s.subscription, t.default_subscription) as subscription
    from topics t left join topic_subscriptions s
      on s.environment_id = t.environment_id and s.topic_id = t.id and s.address = $3
    where t.environment_id = $1 and t.id = $2`,
};

/**
 * Sets the subscription of an address. Changes nothing and returns no row if the topic does not exist, or if the
 * address already has this subscription. Uses topics_pkey and topic_subscriptions_pkey.
 */
const SET: Statement = {
  name: 'topic_subscriptions_set',
  text: `
    insert into topic_subscriptions as s (environment_id, topic_id, address, id, email, subscription, origin, source_id,
      created_at, updated_at)
    select t.environment_id, t.id, $3, $4, $5, $6, $7, $8, now(), now() from topics t
    where t.environment_id = $1 and t.id = $2
    on conflict (environment_id, topic_id, address) do update set subscription = excluded.subscription,
      origin = excluded.origin, source_id = excluded.source_id, email = excluded.email, updated_at = now()
      where s.subscription <> excluded.subscription
    returning 1 as changed`,
};

@Injectable()
export class TopicSubscriptionsStore {
  private readonly rows: TenantRepository<TopicSubscriptionEntity>;

  constructor(private readonly database: Database) {
    this.rows = new TenantRepository(database, TopicSubscriptionEntity);
  }

  /**
   * Returns the subscription that applies, or null if the topic is unknown. `address` is the key of the address in the
   * suppression list (`suppressionKey`).
   */
  async effective(environmentId: number, topicId: Id, address: string): Promise<EffectiveSubscription | null> {
    const [row] = await this.database.queryPrepared<EffectiveSubscription>(EFFECTIVE, [
      environmentId,
      topicId,
      address,
    ]);
    return row ?? null;
  }

  /** Sets a subscription in the caller's transaction. Returns false if nothing changed. */
  async set(row: NewSubscription): Promise<boolean> {
    const { environmentId, topicId, address, id, email, subscription, origin, sourceId } = row;
    const values = [environmentId, topicId, address, id, email, subscription, origin, sourceId];
    return (await this.database.query(SET, values)).length > 0;
  }

  /** Returns the subscription that was set, or null. Uses the index topic_subscriptions_pkey. */
  find(environmentId: number, topicId: Id, address: string): Promise<TopicSubscriptionEntity | null> {
    return this.rows.findOne({ environmentId, topicId, address });
  }

  /**
   * Returns a page of a topic's subscriptions, newest first. Reads the index topic_subscriptions_id_idx in descending
   * order, and filters by subscription during the scan.
   */
  page(
    environmentId: number,
    topicId: Id,
    { beforeId, subscription }: { beforeId: Id | null; subscription: Subscription | null },
    limit: number,
  ): Promise<TopicSubscriptionEntity[]> {
    const where: TenantWhere<TopicSubscriptionEntity> = { environmentId, topicId };
    if (beforeId !== null) where.id = LessThan(beforeId);
    if (subscription !== null) where.subscription = subscription;
    return this.rows.find({ where, order: { id: 'DESC' }, take: limit });
  }

  /** Removes a subscription. Returns false if none was set. Uses the index topic_subscriptions_pkey. */
  async remove(environmentId: number, topicId: Id, address: string): Promise<boolean> {
    return (await this.rows.delete({ environmentId, topicId, address })) > 0;
  }
}
