import { ApiProperty } from '@nestjs/swagger';
import { type Id, idTimeMs, showId } from '#kernel/ids.js';
import type { PositionRow } from './positions.store.js';

/** Which page of the list of positions. */
export class PullPositionsQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** What waits to be pulled. */
export class PullBacklogItem {
  /** How many items are behind the position. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 1000, example: 42 })
  count: number;

  /** True when there are more than were counted: 1,000, or for an endpoint what is its own among the next 5,000 of the destination. */
  @ApiProperty({ example: false })
  is_capped: boolean;

  /** The event that a consumer gets next; null when nothing was found. */
  @ApiProperty({ type: String, nullable: true, example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  oldest_event: string | null;

  /** When that one was accepted. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:30:00.000Z' })
  oldest_at: string | null;
}

/** How far one consumer of a pull destination has come. */
export class PullPositionItem {
  /** The pull destination. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string;

  /** The destination's name. */
  @ApiProperty({ example: 'Warehouse' })
  name: string;

  /** The destination's status; what a disabled one has can still be pulled. */
  @ApiProperty({ enum: ['active', 'disabled'], example: 'active' })
  status: 'active' | 'disabled';

  /** The inbound endpoint whose events are pulled by its `ep_` id; null for who pulls everything of the destination. */
  @ApiProperty({ type: String, nullable: true, example: null })
  endpoint: string | null;

  /** The last event that is acknowledged; null while nothing is. */
  @ApiProperty({ type: String, nullable: true, example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  committed_through: string | null;

  /** When a pull or an ack moved the position last; null while nothing did. A pull that finds nothing new does not move it. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:30:00.000Z' })
  committed_at: string | null;

  /** What is not acknowledged. */
  @ApiProperty({ type: PullBacklogItem })
  backlog: PullBacklogItem;
}

/** One page of positions. */
export class PullPositionPage {
  /** The positions. */
  @ApiProperty({ type: [PullPositionItem] })
  data: PullPositionItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** A page as the API shows it. */
export function presentPositions({
  rows,
  nextCursor,
}: {
  rows: readonly PositionRow[];
  nextCursor: string | null;
}): PullPositionPage {
  return { data: rows.map(presentPosition), next_cursor: nextCursor };
}

function presentPosition({
  targetId,
  keyId,
  name,
  status,
  committedThrough,
  committedAt,
  waiting,
  isCapped,
  oldest,
}: PositionRow): PullPositionItem {
  return {
    destination: showId('dst', targetId),
    name,
    status,
    endpoint: keyId === targetId ? null : showId('ep', keyId),
    committed_through: shownEvent(committedThrough),
    committed_at: committedAt?.toISOString() ?? null,
    backlog: {
      count: waiting,
      is_capped: isCapped,
      oldest_event: shownEvent(oldest),
      oldest_at: oldest === null ? null : new Date(idTimeMs(oldest)).toISOString(),
    },
  };
}

const shownEvent = (id: Id | null): string | null => (id === null ? null : showId('evt', id));
