import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsInt, IsString, MaxLength } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeOmitted, IsDateTime } from '#http/validation.js';

/** Targets of the replay. Without fields, the event is resent to all its original targets. */
@Examples({
  all: { summary: 'Send to all original destinations', value: {} },
  one: {
    summary: 'Send to one of the original destinations',
    value: { destinations: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] },
  },
})
export class EventReplayBody {
  /**
   * Sends the event only to these of its original destinations. Other destinations are rejected with 422. To send to
   * destinations that were added later, use `POST /v1/endpoints/{id}/replay`.
   */
  @ApiProperty({ example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsString({ each: true })
  destinations?: string[];
}

/** Response to the replay of one event. */
export class ReplayAccepted {
  /** Id of this replay request. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  replay_id: string;

  /** Id of the event that is sent again. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  event_id: string;
}

/** Filter for the dead letters to resend. Without fields, all dead letters are sent. */
@Examples({
  all: { summary: 'All dead letters', value: {} },
  destination: {
    summary: 'Redrive the dead letters of a destination',
    value: { endpoint: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
  },
})
export class RedriveBody {
  /**
   * Selects only dead letters of this destination, or of events that this inbound endpoint (its id or path) received.
   */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(200)
  endpoint?: string;

  /** Selects only events received at or after this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-20T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;
}

/** Result of a redrive. */
export class Redriven {
  /** Number of dead letters that are sent again. */
  @ApiProperty({ example: 3 })
  @IsInt()
  redriven: number;

  /** Number of dead letters that are not sent, because their target is disabled or was deleted. */
  @ApiProperty({ example: 0 })
  @IsInt()
  skipped: number;
}
