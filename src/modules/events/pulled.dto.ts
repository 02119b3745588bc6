import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsString } from 'class-validator';
import { CanBeNull, IsDateTime } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import type { PulledDelivery } from './pulled.store.js';

/** How far the consumers of a pull destination are. */
export class DeliveryPullItem {
  /** `true` if a consumer acknowledged the event. `false` while the event waits for a consumer. */
  @ApiProperty({ example: true })
  @IsBoolean()
  acknowledged: boolean;

  /**
   * The feed in which the event was acknowledged: the `dst_` id of the destination, or the `ep_` id of the endpoint
   * that received the event. `null` while the event waits.
   */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  feed: string | null;

  /**
   * Time at which the consumer last acknowledged events of this feed, this event or a later one. `null` if the event is
   * not acknowledged.
   */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeNull()
  @IsDateTime()
  committed_at: string | null;
}

/** Returns the field `pull` of a delivery. Empty for a delivery that consumers do not pull. */
export function presentPulled(delivery: PulledDelivery | undefined): { pull?: DeliveryPullItem } {
  if (delivery === undefined) return {};
  const { feedId, targetId, committedAt } = delivery;
  return {
    pull: {
      acknowledged: feedId !== null,
      feed: feedId && showId(feedId === targetId ? 'dst' : 'ep', feedId),
      committed_at: committedAt?.toISOString() ?? null,
    },
  };
}
