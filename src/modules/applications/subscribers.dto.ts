import { ApiProperty } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import { hasUrl, statusOf } from './application-endpoints.service.js';
import type { SubscriberView } from './subscribers.js';

/** Which page of the list of subscribers. */
export class SubscriberListQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** An endpoint that subscribes to an event type. */
export class SubscriberItem {
  /** The endpoint. */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  endpoint: string;

  /** The application that it belongs to. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  application: string;

  /** Your own id of the application; null without one. */
  @ApiProperty({ type: String, nullable: true, example: 'customer-42' })
  application_uid: string | null;

  /** What people know the application by. */
  @ApiProperty({ example: 'Acme Inc.' })
  application_name: string;

  /** Where the endpoint is; null for one that goes to a destination. */
  @ApiProperty({ type: String, nullable: true, example: 'https://example.com/webhooks' })
  url: string | null;

  /** The destination of the registry that it goes to; null for one with a URL. */
  @ApiProperty({ type: String, nullable: true, example: null })
  destination: string | null;

  /** Event types that it subscribes to; none for all. */
  @ApiProperty({ type: [String], example: ['invoice.*'] })
  event_types: string[];

  /** Channels that it listens to; none for all messages. */
  @ApiProperty({ type: [String], example: ['project-42'] })
  channels: string[];

  /** True when a filter on the payload decides too. */
  @ApiProperty({ example: false })
  is_filtered: boolean;

  /** `disabled` takes no deliveries until it is enabled. */
  @ApiProperty({ enum: ['active', 'disabled'], example: 'active' })
  status: 'active' | 'disabled';
}

/** One page of subscribers. */
export class SubscriberPage {
  /** The subscribers. */
  @ApiProperty({ type: [SubscriberItem] })
  data: SubscriberItem[];

  /** Pass it as `cursor` for the next page; null on the last one. A page may be short, or empty, and not the last. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** A page as the API shows it. */
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
