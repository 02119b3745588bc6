import { ApiProperty } from '@nestjs/swagger';
import { type CatalogueEntry } from './catalogue.js';
import { SYSTEM_EVENT_TYPES, type SystemEventType } from './contract.js';

/** An event of the service's own. */
export class SystemEventTypeItem {
  /** The `type` of the payload, and the event's type. */
  @ApiProperty({ enum: SYSTEM_EVENT_TYPES, example: 'circuit.opened' })
  type: SystemEventType;

  /** When it is sent. */
  @ApiProperty({
    example: 'A target failed so often in a row that deliveries to it are held back until a probe succeeds.',
  })
  description: string;

  /** JSON Schema (2020-12) of the payload's `data`. */
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { type: 'object', required: ['count'], properties: { count: { type: 'integer' } } },
  })
  schema: Record<string, unknown>;

  /** A payload. */
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { type: 'circuit.opened', timestamp: '2026-11-21T09:30:41.530Z', data: { count: 1 } },
  })
  example: Record<string, unknown>;
}

/** The catalogue of the service's own events. */
export class SystemEventTypeList {
  /** Every type, by name. */
  @ApiProperty({ type: [SystemEventTypeItem] })
  data: SystemEventTypeItem[];
}

export function presentCatalogue(
  catalogue: readonly (CatalogueEntry & { type: SystemEventType })[],
): SystemEventTypeList {
  return {
    data: catalogue.map(({ type, description, schema, example }) => ({
      type,
      description,
      schema,
      example: { ...example },
    })),
  };
}
