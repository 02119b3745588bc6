import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Id } from '#kernel/ids.js';
import type { Subscription } from './contract.js';

/** A kind of email that recipients can unsubscribe from. */
@Entity('topics')
@Check('topics_default_subscription_check', `default_subscription in ('opt_in', 'opt_out')`)
@Index('topics_key_idx', ['environmentId', 'key'], { unique: true })
export class TopicEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'topics_pkey' })
  @ForeignKey('environments', { name: 'topics_environment_id_fkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'topics_pkey' })
  id: Id;

  /** Key that identifies the topic in API requests. */
  @Column('text')
  key: string;

  /** Name of the topic on the page for recipients. */
  @Column('text')
  name: string;

  @Column('text', { nullable: true })
  description: string | null;

  /** Subscription that applies to addresses that have no row in `topic_subscriptions`. */
  @Column('text', { name: 'default_subscription' })
  defaultSubscription: Subscription;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}

/** The subscription of an address, if the recipient or the API has set it. */
@Entity('topic_subscriptions')
@Check('topic_subscriptions_subscription_check', `subscription in ('opt_in', 'opt_out')`)
@Check('topic_subscriptions_origin_check', `origin in ('api', 'recipient')`)
@ForeignKey(() => TopicEntity, ['environmentId', 'topicId'], ['environmentId', 'id'], {
  name: 'topic_subscriptions_topic_fkey',
  onDelete: 'CASCADE',
})
@Index('topic_subscriptions_id_idx', ['environmentId', 'topicId', 'id'], { unique: true })
export class TopicSubscriptionEntity {
  @PrimaryColumn('int', { name: 'environment_id', primaryKeyConstraintName: 'topic_subscriptions_pkey' })
  environmentId: number;

  @PrimaryColumn('uuid', { name: 'topic_id', primaryKeyConstraintName: 'topic_subscriptions_pkey' })
  topicId: Id;

  /** Key that identifies the address. The table `suppressions` uses the same kind of key. */
  @PrimaryColumn('text', { primaryKeyConstraintName: 'topic_subscriptions_pkey' })
  address: string;

  /** Id by which lists are sorted. */
  @Column('uuid')
  id: Id;

  /** Address in its original form. */
  @Column('text')
  email: string;

  @Column('text')
  subscription: Subscription;

  @Column('text')
  origin: 'api' | 'recipient';

  /** Email whose link the recipient used. Null if the API set the subscription. */
  @Column('uuid', { name: 'source_id', nullable: true })
  sourceId: Id | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
