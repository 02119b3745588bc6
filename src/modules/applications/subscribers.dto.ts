import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import { hasUrl, statusOf } from './application-endpoints.service.js';
import type { SubscriberView } from './subscribers.js';

/** Page of the list of subscribers. */
export class SubscriberListQuery {
  /** Start of the page: the `next_cursor` of the previous page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** An endpoint that subscribes to an event type. */
export class SubscriberItem {
  /** Id of the endpoint. */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  endpoint: string;

  /** Id of the application that the endpoint belongs to. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  application: string;

  /** Your own id for the customer that the application represents; `null` if you have not set one. */
  @ApiProperty({ example: 'customer-42' })
  @CanBeNull()
  @IsString()
  application_uid: string | null;

  /** Human-readable name of the application. */
  @ApiProperty({ example: 'Acme Inc.' })
  @IsString()
  application_name: string;

  /** URL of the endpoint; `null` if it uses a destination. */
  @ApiProperty({ example: 'https://example.com/webhooks' })
  @CanBeNull()
  @IsString()
  url: string | null;

  /** Id of the destination that the endpoint uses; `null` if it has a URL. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  destination: string | null;

  /** Event types that the endpoint subscribes to; empty for all types. */
  @ApiProperty({ example: ['invoice.*'] })
  @IsArray()
  @IsString({ each: true })
  event_types: string[];

  /** Channels of the endpoint; empty if it receives messages of all channels. */
  @ApiProperty({ example: ['project-42'] })
  @IsArray()
  @IsString({ each: true })
  channels: string[];

  /** True if a filter on the payload also decides whether the endpoint receives a message. */
  @ApiProperty({ example: false })
  @IsBoolean()
  is_filtered: boolean;

  /** Status of the endpoint. A `disabled` endpoint receives no deliveries until it is enabled. */
  @ApiProperty({ example: 'active' })
  @IsIn(['active', 'disabled'])
  status: 'active' | 'disabled';
}

/** One page of subscribers. */
export class SubscriberPage {
  /** Subscribers on this page. */
  @IsArrayOf(() => SubscriberItem)
  data: SubscriberItem[];

  /**
   * Value for `cursor` to get the next page; `null` on the last page. A page can be short or empty without being the
   * last.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** Returns a page of subscribers in its API form. */
export function presentSubscribers({
  views,
  nextCursor,
}: {
  views: readonly SubscriberView[];
  nextCursor: string | null;
}): SubscriberPage {
  return { data: views.map(presentSubscriber), next_cursor: nextCursor };
}

function presentSubscriber({ endpoint, application }: SubscriberView): SubscriberItem {
  const { row, owned } = endpoint;
  return {
    endpoint: showId('ep', row.id),
    application: showId('app', application.id),
    application_uid: application.uid,
    application_name: application.name,
    url: owned?.url ?? null,
    destination: hasUrl(row) ? null : showId('dst', row.destinationId),
    event_types: row.eventTypes,
    channels: row.channels,
    is_filtered: row.filter !== null,
    status: statusOf(endpoint).status,
  };
}
