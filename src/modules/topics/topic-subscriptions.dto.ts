import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import type { Page } from '#kernel/cursors.js';
import { showId } from '#kernel/ids.js';
import { type Subscription, SUBSCRIPTIONS } from './contract.js';
import type { SubscriptionView } from './topic-subscriptions.service.js';

/** Filter and page of a topic's subscriptions. */
export class TopicSubscriptionListQuery {
  /** Returns only addresses with this subscription. */
  @ApiProperty({ example: 'opt_out' })
  @CanBeOmitted()
  @IsIn(SUBSCRIPTIONS)
  subscription?: Subscription;

  /** The `next_cursor` of the previous page. The filter must stay the same. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of subscriptions to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** The subscription to set for an address and a topic. */
@Examples({
  out: { summary: 'Unsubscribe the address', value: { subscription: 'opt_out' } },
  in: { summary: 'Subscribe the address', value: { subscription: 'opt_in' } },
})
export class TopicSubscriptionBody {
  /** `opt_in`: the address receives emails of the topic. `opt_out`: it does not. */
  @ApiProperty({ example: 'opt_out' })
  @IsIn(SUBSCRIPTIONS)
  subscription: Subscription;
}

/** The subscription of an address to a topic. */
export class TopicSubscriptionItem {
  /** The topic's id. */
  @ApiProperty({ example: 'top_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  topic_id: string;

  /** Email address of the subscriber. */
  @ApiProperty({ example: 'customer@example.org' })
  @IsString()
  email: string;

  /** `opt_in`: the address receives emails of the topic. `opt_out`: it does not. */
  @ApiProperty({ example: 'opt_out' })
  @IsIn(SUBSCRIPTIONS)
  subscription: string;

  /**
   * `api` (set by the API), `recipient` (set with the link in an email), or `default` if only the topic's default
   * applies.
   */
  @ApiProperty({ example: 'recipient' })
  @IsIn(['api', 'recipient', 'default'])
  origin: string;

  /** Id of the email whose link the recipient used; `null` if the recipient did not set the subscription. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  source_id: string | null;

  /** Time of the last change; `null` if only the topic's default applies. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeNull()
  @IsDateTime()
  updated_at: string | null;
}

/** One page of subscriptions that were set, newest first. */
export class TopicSubscriptionPage {
  /** The subscriptions of this page. */
  @IsArrayOf(() => TopicSubscriptionItem)
  data: TopicSubscriptionItem[];

  /** Pass this value as `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

export function presentSubscription({ topic, email, set }: SubscriptionView): TopicSubscriptionItem {
  return {
    topic_id: showId('top', topic.id),
    email: set?.email ?? email,
    subscription: set?.subscription ?? topic.defaultSubscription,
    origin: set?.origin ?? 'default',
    source_id: set?.sourceId ? showId('evt', set.sourceId) : null,
    updated_at: set?.updatedAt.toISOString() ?? null,
  };
}

export function presentSubscriptions({ rows, nextCursor }: Page<SubscriptionView>): TopicSubscriptionPage {
  return { data: rows.map(presentSubscription), next_cursor: nextCursor };
}
