import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import type { Page } from '#kernel/cursors.js';
import { invalid } from '#kernel/errors.js';
import { showId } from '#kernel/ids.js';
import { type Subscription, SUBSCRIPTIONS } from './contract.js';
import type { TopicEntity } from './topics.entities.js';
import type { TopicDraft } from './topics.service.js';
import type { TopicChanges } from './topics.store.js';

const ID = 'top_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const CANNOT_CHANGE = 'cannot be changed: create another topic';

/** Page of the list of topics. */
export class TopicListQuery {
  /** The `next_cursor` of the previous page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of topics to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** The topic to create. */
@Examples({
  newsletter: {
    summary: 'A topic that addresses receive until they unsubscribe',
    value: { name: 'Newsletter', key: 'newsletter', default_subscription: 'opt_in' },
  },
  beta: {
    summary: 'A topic that only subscribed addresses receive',
    value: { name: 'Beta program', default_subscription: 'opt_out' },
  },
})
export class NewTopicBody {
  /** Name of the topic. Recipients see it on the unsubscribe page. */
  @ApiProperty({ example: 'Newsletter' })
  @IsString()
  @Length(1, 100)
  @Matches(/^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$/u)
  name: string;

  /**
   * Short name for requests: up to 64 lower-case letters, digits and `-`. It is unique within the environment and
   * cannot be changed. Derived from `name` if omitted.
   */
  @ApiProperty({ example: 'newsletter' })
  @IsOptional()
  @IsString()
  @Matches(/^[a-z0-9][a-z0-9-]{0,63}$/u)
  key?: string | null;

  /** Human-readable description; `null` for none. */
  @ApiProperty({ example: 'News about our products, once a month.' })
  @IsOptional()
  @IsString()
  @MaxLength(500)
  description?: string | null;

  /**
   * Required. Subscription of addresses for which none was set. With `opt_in`, they receive emails of the topic until
   * they unsubscribe. With `opt_out`, they receive them only after they subscribe. It cannot be changed.
   */
  @ApiProperty({ example: 'opt_in' })
  @IsIn(SUBSCRIPTIONS)
  default_subscription: Subscription;
}

/** Topic fields to change. Omitted fields keep their values. */
@Fixed({ key: CANNOT_CHANGE, default_subscription: CANNOT_CHANGE })
@Examples({ rename: { summary: 'Rename the topic', value: { name: 'Product news' } } })
export class TopicChangesBody {
  /** The id or key in the path. The `resend` package repeats it in the body. It cannot be changed. */
  @ApiProperty({ example: 'newsletter' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  id?: string | null;

  /** Name of the topic. Recipients see it on the unsubscribe page. */
  @ApiProperty({ example: 'Product news' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 100)
  @Matches(/^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$/u)
  name?: string;

  /** Human-readable description; `null` removes it. */
  @ApiProperty({ example: 'News about our products, once a month.' })
  @IsOptional()
  @IsString()
  @MaxLength(500)
  description?: string | null;
}

/** A kind of email that recipients can unsubscribe from. */
export class TopicItem {
  /** The topic's id. */
  @ApiProperty({ example: ID })
  @IsString()
  id: string;

  /** Short name for requests. */
  @ApiProperty({ example: 'newsletter' })
  @IsString()
  key: string;

  /** Name that recipients see. */
  @ApiProperty({ example: 'Newsletter' })
  @IsString()
  name: string;

  /** Human-readable description. */
  @ApiProperty({ example: 'News about our products, once a month.' })
  @CanBeNull()
  @IsString()
  description: string | null;

  /** Subscription that applies to addresses for which none was set. */
  @ApiProperty({ example: 'opt_in' })
  @IsIn(SUBSCRIPTIONS)
  default_subscription: string;

  /** Time of creation. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the last change. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  updated_at: string;
}

/** One page of topics, newest first. */
export class TopicPage {
  /** The topics of this page. */
  @IsArrayOf(() => TopicItem)
  data: TopicItem[];

  /** Pass this value as `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

export function topicDraft({ name, key, description = null, default_subscription }: NewTopicBody): TopicDraft {
  return { name, key: key ?? undefined, description, defaultSubscription: default_subscription };
}

/** Returns the changes. Throws 422 if the body names a topic other than the one in the path. */
export function topicChanges(topic: string, { id, name, description }: TopicChangesBody): TopicChanges {
  if ((id ?? topic) !== topic)
    throw invalid([
      { path: 'id', message: `must be omitted, or ${topic} as in the path: the id of a topic cannot change` },
    ]);
  return { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
}

export function presentTopic(row: TopicEntity): TopicItem {
  return {
    id: showId('top', row.id),
    key: row.key,
    name: row.name,
    description: row.description,
    default_subscription: row.defaultSubscription,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export function presentTopics({ rows, nextCursor }: Page<TopicEntity>): TopicPage {
  return { data: rows.map(presentTopic), next_cursor: nextCursor };
}
