import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsObject, IsString, Length, Max, MaxLength, Min } from 'class-validator';
import { DEFAULT_FORWARDING, type Forwarding } from '#engine/inbound/forwarded-url.js';
import { ListCount, listCount } from '#http/list-count.dto.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import { PREFIX_LENGTH_MAX } from '#kernel/database/prefix.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import { DeliverySettingsItem } from './contract.dto.js';
import type { DestinationEntity, Validation } from './destinations.entities.js';
import type { DestinationRows, DestinationView } from './destinations.service.js';
import { STATUSES, VALIDATIONS } from './settings.dto.js';

const STATES = ['closed', 'open', 'half_open'] as const;

/** Filters of the destination list. */
export class DestinationListQuery {
  /** Returns only destinations of this type. */
  @ApiProperty({ example: 'https' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  type?: string;

  /** Returns only destinations whose last check had this result. */
  @ApiProperty({ example: 'valid' })
  @CanBeOmitted()
  @IsIn(VALIDATIONS)
  validation?: Validation;

  /** Returns only destinations with this status. */
  @ApiProperty({ example: 'disabled' })
  @CanBeOmitted()
  @IsIn(STATUSES)
  status?: 'active' | 'disabled';

  /** Returns only destinations whose circuit breaker is in this state. */
  @ApiProperty({ example: 'open' })
  @CanBeOmitted()
  @IsIn(STATES)
  circuit?: (typeof STATES)[number];

  /** Returns only destinations whose name begins with this text, ignoring case. */
  @ApiProperty({ example: 'ord' })
  @CanBeOmitted()
  @IsString()
  @Length(1, PREFIX_LENGTH_MAX)
  search?: string;

  /** If `true`, the response also contains the number of items that match the filters, counted up to 1,000. */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  count?: boolean;

  /**
   * Cursor of the page to return: the `next_cursor` of the previous page, requested with the same filters. Returns the
   * first page if omitted.
   */
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

/** A destination as shown in a list. */
export class DestinationItem {
  /** Id of the destination. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Display name. */
  @ApiProperty({ example: 'Orders' })
  @IsString()
  name: string;

  /** Type of the destination, which determines how deliveries are made. */
  @ApiProperty({ example: 'https' })
  @IsString()
  type: string;

  /** URL of the destination. `null` for types without a URL. */
  @ApiProperty({ example: 'https://example.com/webhooks' })
  @CanBeNull()
  @IsString()
  url: string | null;

  /** Result of the last check. `stale` means that the target was reachable before and is not reachable now. */
  @ApiProperty({ example: 'valid' })
  @IsIn(VALIDATIONS)
  validation: Validation;

  /** `disabled` means that no deliveries are made until the destination is enabled. */
  @ApiProperty({ example: 'active' })
  @IsIn(STATUSES)
  status: 'active' | 'disabled';

  /** Version number, incremented by every change to the settings. */
  @ApiProperty({ example: 1 })
  @IsInt()
  version: number;

  /** Time of creation. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;
}

/** One page of destinations, newest first. */
export class DestinationPage {
  /** The destinations of this page. */
  @IsArrayOf(() => DestinationItem)
  data: DestinationItem[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;

  /** Number of items on all pages that match the filters. Present only if the request sets `count`. */
  @CanBeOmitted()
  @IsObjectOf(() => ListCount)
  count?: ListCount;
}

/** The circuit breaker of a destination. */
export class CircuitItem {
  /** `open` holds deliveries back, `half_open` tries one delivery, `closed` lets all deliveries through. */
  @ApiProperty({ example: 'closed' })
  @IsIn(STATES)
  state: (typeof STATES)[number];

  /** Time at which the outage began. `null` while the circuit is closed. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  opened_at: string | null;

  /**
   * Earliest time of the next probe. While a probe is in flight: earliest time of the probe after that one. `null`
   * while the circuit is closed.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  next_probe_at: string | null;
}

/** Parts of a received request that deliveries copy. */
export class ForwardItem implements Forwarding {
  /** `true` if deliveries use the method of the received request. Otherwise, they are POST requests. */
  @ApiProperty({ example: false })
  @IsBoolean()
  method: boolean;

  /** `true` if the part of the received path that follows the endpoint's path is appended to the path of the URL. */
  @ApiProperty({ example: false })
  @IsBoolean()
  path: boolean;

  /** `true` if the received query is appended to the query of the URL. */
  @ApiProperty({ example: true })
  @IsBoolean()
  query: boolean;
}

/** A destination with all its settings, but without credentials and secrets. */
export class DestinationDetail extends IntersectionType(DestinationItem, DeliverySettingsItem) {
  /** Settings specific to the destination type, and `circuit_breaker: {failure_threshold}`. */
  @ApiProperty({ example: { circuit_breaker: { failure_threshold: 10 } } })
  @IsObject()
  config: Record<string, unknown>;

  /** Parts of a received request that deliveries copy. `null` for types other than `https`. */
  @CanBeNull()
  @IsObjectOf(() => ForwardItem)
  forward: ForwardItem | null;

  /** Circuit breaker of the destination. */
  @IsObjectOf(() => CircuitItem)
  circuit: CircuitItem;

  /** Reason why the destination is disabled. `null` while it is active. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  disabled_reason: string | null;

  /** Reason why every attempt fails, if no adapter for the destination's type is loaded. `null` otherwise. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  unserved: string | null;
}

/** Parses the destination id in a path. Throws 404 if the text cannot be a destination id. */
export function destinationId(text: string): Id {
  const id = parseId('dst', text);
  if (id === null) throw noSuch('destination');
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

/** Presents a destination to a caller. Only callers with scope `write` see sensitive headers. */
export function presentDestinationTo(caller: Caller, view: DestinationView): DestinationDetail {
  const shown = presentDestination(view);
  return { ...shown, headers: shownHeaders(shown.headers, caller) };
}

export function presentDestination({ row, settings, circuit, unserved }: DestinationView): DestinationDetail {
  return {
    ...presentItem(row),
    config: row.config,
    forward: row.type === 'https' ? (row.forward ?? DEFAULT_FORWARDING) : null,
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
