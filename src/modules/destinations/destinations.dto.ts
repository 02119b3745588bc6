import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import { ListCount, listCount } from '#http/list-count.dto.js';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import { PREFIX_LENGTH_MAX } from '#kernel/database/prefix.js';
import { notFound } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import { DeliverySettingsItem } from './contract.dto.js';
import type { DestinationEntity, Validation } from './destinations.entities.js';
import type { DestinationRows, DestinationView } from './destinations.service.js';
import { STATUSES, VALIDATIONS } from './settings.dto.js';

const STATES = ['closed', 'open', 'half_open'] as const;

/** Filters of the destinations list. */
export class DestinationListQuery {
  /** Only destinations of this type. */
  @ApiProperty({ required: false, maxLength: 64, example: 'https' })
  type?: string;

  /** Only destinations whose last check said so. */
  @ApiProperty({ required: false, enum: VALIDATIONS, example: 'valid' })
  validation?: Validation;

  /** Only destinations with this status. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'disabled' })
  status?: 'active' | 'disabled';

  /** Only destinations whose circuit breaker is in this state. */
  @ApiProperty({ required: false, enum: STATES, example: 'open' })
  circuit?: (typeof STATES)[number];

  /** Only destinations whose name begins with this, whatever the case. */
  @ApiProperty({ required: false, minLength: 1, maxLength: PREFIX_LENGTH_MAX, example: 'ord' })
  search?: string;

  /** True to say beside the page how many match the filters, up to 1,000. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: true })
  count?: boolean;

  /** Where to go on: the `next_cursor` of the page before, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** A destination in a list. */
export class DestinationItem {
  /** The destination's id. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** What people know it by. */
  @ApiProperty({ example: 'Orders' })
  name: string;

  /** How it is delivered to. */
  @ApiProperty({ example: 'https' })
  type: string;

  /** Where it is; null for a type that has no URL. */
  @ApiProperty({ type: String, nullable: true, example: 'https://example.com/webhooks' })
  url: string | null;

  /** What its last check found: `stale` was reachable once and is not now. */
  @ApiProperty({ enum: VALIDATIONS, example: 'valid' })
  validation: Validation;

  /** `disabled` takes no deliveries until it is enabled. */
  @ApiProperty({ enum: STATUSES, example: 'active' })
  status: 'active' | 'disabled';

  /** Rises with every change of the settings. */
  @ApiProperty({ type: 'integer', example: 1 })
  version: number;

  /** When it was created. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;
}

/** One page of destinations, newest first. */
export class DestinationPage {
  /** The destinations of this page. */
  @ApiProperty({ type: [DestinationItem] })
  data: DestinationItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;

  /** How many match the filters, over all pages; only when `count` asks for it. */
  @ApiProperty({ type: ListCount, required: false })
  count?: ListCount;
}

/** The circuit breaker of a destination. */
export class CircuitItem {
  /** `open` holds deliveries back, `half_open` tries one, `closed` lets them through. */
  @ApiProperty({ enum: STATES, example: 'closed' })
  state: (typeof STATES)[number];

  /** When the outage began; null while closed. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  opened_at: string | null;

  /** Not before when a probe is sent, or, while one is under way, another; null while closed. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  next_probe_at: string | null;
}

/** A destination with all its settings. Credentials and secrets are never in it. */
export class DestinationDetail extends IntersectionType(DestinationItem, DeliverySettingsItem) {
  /** Settings of its type, and `circuit_breaker: {failure_threshold}`. */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { circuit_breaker: { failure_threshold: 10 } } })
  config: Record<string, unknown>;

  /** Its circuit breaker. */
  @ApiProperty({ type: CircuitItem })
  circuit: CircuitItem;

  /** Why it is disabled; null while it is active. */
  @ApiProperty({ type: String, nullable: true, example: null })
  disabled_reason: string | null;

  /** Why every attempt fails until the operator acts: nothing serves its type any more; null otherwise. */
  @ApiProperty({ type: String, nullable: true, example: null })
  unserved: string | null;
}

/** The destination that a path names. Throws 404 for what can't be one. */
export function destinationId(text: string): Id {
  const id = parseId('dst', text);
  if (id === null) throw notFound('destination');
  return id;
}

export function presentItem(row: DestinationEntity): DestinationItem {
  return {
    id: showId('dst', row.id),
    name: row.name,
    type: row.type,
    url: row.url,
    validation: row.validation,
    status: row.status,
    version: row.version,
    created_at: row.createdAt.toISOString(),
  };
}

export function presentPage({ rows, nextCursor, count }: DestinationRows): DestinationPage {
  return { data: rows.map(presentItem), next_cursor: nextCursor, ...(count !== null && { count: listCount(count) }) };
}

/** As a caller may see it: sensitive headers are for who may write. */
export function presentDestinationTo(caller: Caller, view: DestinationView): DestinationDetail {
  const shown = presentDestination(view);
  return { ...shown, headers: shownHeaders(shown.headers, caller) };
}

export function presentDestination({ row, settings, circuit, unserved }: DestinationView): DestinationDetail {
  return {
    ...presentItem(row),
    config: row.config,
    ...settings,
    circuit: {
      state: circuit.state,
      opened_at: circuit.openedAt?.toISOString() ?? null,
      next_probe_at: circuit.probeAt?.toISOString() ?? null,
    },
    disabled_reason: row.disabledReason,
    unserved,
  };
}
