import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsObject, IsString } from 'class-validator';
import { IsArrayOf } from '#http/validation.js';
import { type CatalogueEntry } from './catalogue.js';
import { SYSTEM_EVENT_TYPES, type SystemEventType } from './contract.js';

/** A type of event that Posthorn sends about itself. */
export class SystemEventTypeItem {
  /** Event type. It is also the `type` in the payload. */
  @ApiProperty({ example: 'circuit.opened' })
  @IsIn(SYSTEM_EVENT_TYPES)
  type: SystemEventType;

  /** Condition under which the event is sent. */
  @ApiProperty({
    example: 'A target failed several times in a row, so deliveries to it are held back until a probe succeeds.',
  })
  @IsString()
  description: string;

  /** JSON Schema (2020-12) of `data` in the payload. */
  @ApiProperty({ example: { type: 'object', required: ['count'], properties: { count: { type: 'integer' } } } })
  @IsObject()
  schema: Record<string, unknown>;

  /** Example payload. */
  @ApiProperty({ example: { type: 'circuit.opened', timestamp: '2026-11-21T09:30:41.530Z', data: { count: 1 } } })
  @IsObject()
  example: Record<string, unknown>;
}

/** Catalog of system events. */
export class SystemEventTypeList {
  /** All system event types, ordered by name. */
  @IsArrayOf(() => SystemEventTypeItem)
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
