import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import { type Id, idTimeMs, showId } from '#kernel/ids.js';
import type { PositionRow } from './positions.store.js';

/** Page of the position list. */
export class PullPositionsQuery {
  /** The `next_cursor` of the previous page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of positions to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** Items that are waiting to be pulled. */
export class PullBacklogItem {
  /** Number of events after the committed position. */
  @ApiProperty({ example: 42 })
  @IsInt()
  @Min(0)
  @Max(1000)
  count: number;

  /**
   * `true` if there may be more events than `count`, because counting stops at 1,000 events. For an endpoint, only the
   * next 5,000 events of the destination are searched for events that the endpoint received.
   */
  @ApiProperty({ example: false })
  @IsBoolean()
  is_capped: boolean;

  /** Id of the event that the consumer gets next; `null` if none was found. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  oldest_event: string | null;

  /** Time at which the oldest waiting event was accepted; `null` if there is none. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeNull()
  @IsDateTime()
  oldest_at: string | null;
}

/** The position of one consumer in a pull destination. */
export class PullPositionItem {
  /** Id of the pull destination. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  destination: string;

  /** The destination's name. */
  @ApiProperty({ example: 'Warehouse' })
  @IsString()
  name: string;

  /** The destination's status. The events of a disabled destination can still be pulled. */
  @ApiProperty({ example: 'active' })
  @IsIn(['active', 'disabled'])
  status: 'active' | 'disabled';

  /**
   * Id of the inbound endpoint, if the consumer pulls the events of one endpoint (by its `ep_` id). `null` for the
   * consumer that pulls all events of the destination.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  endpoint: string | null;

  /** Id of the last acknowledged event; `null` if nothing has been acknowledged. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  committed_through: string | null;

  /**
   * Time at which a pull or an ack last moved the position; `null` if it has never moved. A pull that finds nothing new
   * does not move it.
   */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeNull()
  @IsDateTime()
  committed_at: string | null;

  /** Events that are not acknowledged yet. */
  @IsObjectOf(() => PullBacklogItem)
  backlog: PullBacklogItem;
}

/** One page of positions. */
export class PullPositionPage {
  /** Positions of pull consumers on this page. */
  @IsArrayOf(() => PullPositionItem)
  data: PullPositionItem[];

  /** Pass this value as `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** Returns the API representation of a page. */
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
