import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';

/** Where to send an event again; to wherever it went without a field. */
@Examples({
  all: { summary: 'Wherever it went', value: {} },
  one: { summary: 'One of its destinations', value: { destinations: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] } },
})
export class EventReplayBody {
  /** Only to these of the destinations that the event went to. 422 for any other one: a range replay sends to destinations that were added since. */
  @ApiProperty({
    required: false,
    type: [String],
    minItems: 1,
    maxItems: 100,
    example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
  })
  destinations?: string[];
}

/** What a replay of one event answers. */
export class ReplayAccepted {
  /** Id of this replay call. */
  @ApiProperty({ example: 'rpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  replay_id: string;

  /** The event that is sent again. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  event_id: string;
}

/** Which dead letters to send again; all of them without a field. */
@Examples({
  all: { summary: 'All dead letters', value: {} },
  destination: { summary: 'Those of a destination', value: { endpoint: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' } },
})
export class RedriveBody {
  /** Only those of this destination, or of what this inbound endpoint (its id or path) received. */
  @ApiProperty({ required: false, maxLength: 200, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  endpoint?: string;

  /** Only events received at or after this time (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T00:00:00.000Z' })
  since?: string;
}

/** What a redrive answers. */
export class Redriven {
  /** How many dead letters are sent again. */
  @ApiProperty({ type: 'integer', example: 3 })
  redriven: number;

  /** How many stay dead letters, because what they are for is disabled or was deleted. */
  @ApiProperty({ type: 'integer', example: 0 })
  skipped: number;
}
