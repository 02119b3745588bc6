import { ApiProperty, IntersectionType, PartialType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf, IsStringMap } from '#http/validation.js';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import { showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import { EndpointCircuitItem, presentCircuit } from '#modules/applications/contract.dto.js';
import { DeliverySettingsBody, DeliverySettingsItem } from '#modules/destinations/contract.dto.js';
import type { ShownSecret } from '#modules/destinations/contract.js';
import { type ApplicationEndpointView, statusOf } from './application-endpoints.service.js';
import {} from './applications.dto.js';

const STATUSES = ['active', 'disabled'] as const;
const DESTINATION_STATUSES = [...STATUSES, 'gone'] as const;

/** Filters for the endpoints of an application. */
export class ApplicationEndpointListQuery {
  /** Returns only endpoints with this status. */
  @ApiProperty({ example: 'active' })
  @CanBeOmitted()
  @IsIn(STATUSES)
  status?: (typeof STATUSES)[number];

  /** Returns only endpoints that subscribe to this event type. */
  @ApiProperty({ example: 'invoice.paid' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(256)
  event_type?: string;

  /** Start of the page: the `next_cursor` of the previous page, with the same filters. */
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

/**
 * Endpoint fields that can be set on creation and changed later. The delivery settings (`headers` to
 * `legacy_signature`) are valid only for an endpoint with a URL.
 */
export class ApplicationEndpointFieldsBody extends DeliverySettingsBody {
  /**
   * Your own id for the endpoint, unique within its application: 1 to 256 letters, digits and `. _ : @ + ~ -`. It must
   * not begin with `ep_`.
   */
  @ApiProperty({ example: 'production' })
  @IsOptional()
  @IsString()
  @MaxLength(256)
  uid?: string | null;

  /** Human-readable description. */
  @ApiProperty({ example: 'The production system' })
  @IsOptional()
  @IsString()
  @MaxLength(500)
  description?: string | null;

  /**
   * Event types that the endpoint subscribes to. Each entry is an exact type, or `prefix.*` for all types that begin
   * with `prefix.`. Without entries it subscribes to all types.
   */
  @ApiProperty({ example: ['invoice.paid', 'customer.*'] })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(200)
  @IsString({ each: true })
  @Length(1, 256, { each: true })
  event_types?: string[] | null;

  /** Channels of the endpoint. If set, the endpoint receives only messages that name at least one of these channels. */
  @ApiProperty({ example: ['project-42'] })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(50)
  @IsString({ each: true })
  @Length(1, 256, { each: true })
  channels?: string[] | null;

  /**
   * Condition on the payload, in the grammar of route filters. The endpoint receives only messages that match; `null`
   * matches all messages.
   */
  @ApiProperty({ example: { path: '$.amount', op: 'gte', value: '1000' } })
  @IsOptional()
  @IsObject()
  filter?: Record<string, unknown> | null;

  /** Your own key-value data: up to 50 keys of 1 to 40 characters each, with values of up to 500 characters. */
  @ApiProperty({ example: { plan: 'pro' } })
  @IsOptional()
  @IsStringMap()
  metadata?: Record<string, string> | null;
}

/** The endpoint to create, with either a URL or a registered destination. */
@Examples({
  url: {
    summary: "A customer's URL",
    value: { url: 'https://example.com/webhooks', event_types: ['invoice.paid', 'customer.*'] },
  },
  destination: { summary: 'A registered destination', value: { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' } },
})
export class NewApplicationEndpointBody extends ApplicationEndpointFieldsBody {
  /** URL that receives the deliveries. */
  @ApiProperty({ example: 'https://example.com/webhooks' })
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  url?: string | null;

  /**
   * Id of the destination that receives the deliveries instead of a URL, for example an SQS queue or a pull
   * destination.
   */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  destination?: string | null;

  /** Signing secret that the receiver already knows. If omitted, a new secret is generated. */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  @IsOptional()
  @IsString()
  @MaxLength(200)
  secret?: string | null;
}

/** Endpoint fields to change. Omitted fields keep their values; `null` resets a field to its default. */
@Fixed({ secret: 'cannot be set: rotate it with POST …/secret/rotate' })
@Examples({
  types: { summary: 'Change the event types', value: { event_types: ['invoice.*'] } },
  disable: {
    summary: "Stop the endpoint's deliveries",
    value: { status: 'disabled', disabled_reason: 'The customer asked for it.' },
  },
  enable: { summary: "Resume the endpoint's deliveries", value: { status: 'active' } },
})
export class ApplicationEndpointChangesBody extends ApplicationEndpointFieldsBody {
  /** New URL, for an endpoint that has a URL. `null` has no effect. */
  @ApiProperty({ example: 'https://example.com/webhooks' })
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  url?: string | null;

  /** Id of the new destination, for an endpoint that uses a destination. `null` has no effect. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  destination?: string | null;

  /** `active` enables the endpoint and closes the circuit breaker of its URL. `disabled` stops its deliveries. */
  @ApiProperty({ example: 'disabled' })
  @CanBeOmitted()
  @IsIn(STATUSES)
  status?: (typeof STATUSES)[number];

  /**
   * Reason for disabling the endpoint; valid only together with `status: disabled`. If the endpoint is already
   * disabled, its existing reason is kept.
   */
  @ApiProperty({ example: 'The customer asked for it.' })
  @IsOptional()
  @IsString()
  @Length(1, 500)
  disabled_reason?: string | null;
}

/** The URL to check. */
export class EndpointUrlBody {
  /** URL to check. */
  @ApiProperty({ example: 'https://example.com/webhooks' })
  @IsString()
  @Length(1, 2048)
  url: string;
}

/** Result of a reachability check for a URL. */
export class EndpointUrlItem {
  /** True if the URL can be reached. */
  @ApiProperty({ example: true })
  @IsBoolean()
  ok: boolean;

  /** Human-readable result, as one sentence. */
  @ApiProperty({ example: 'The target answered with status 200.' })
  @IsString()
  detail: string;
}

/** Options for rotating the signing secret of an endpoint. */
@Examples({
  day: { summary: 'Both secrets sign for one day', value: { grace_seconds: 86_400 } },
  now: { summary: 'The old secret stops signing immediately', value: { grace_seconds: 0 } },
})
export class ApplicationEndpointRotationBody {
  /** Number of seconds for which the old secret signs in addition to the new secret. */
  @ApiProperty({ default: 86_400, example: 86_400 })
  @CanBeOmitted()
  @IsInt()
  @Min(0)
  @Max(604_800)
  grace_seconds?: number;
}

/** The endpoint's own fields, without delivery settings. */
export class ApplicationEndpointItem {
  /** Id of the endpoint. */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Your own id for the endpoint; `null` if you have not set one. */
  @ApiProperty({ example: 'production' })
  @CanBeNull()
  @IsString()
  uid: string | null;

  /** Id of the application that the endpoint belongs to. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  application: string;

  /** URL of the endpoint; `null` if it uses a destination. */
  @ApiProperty({ example: 'https://example.com/webhooks' })
  @CanBeNull()
  @IsString()
  url: string | null;

  /** Id of the destination that the endpoint uses; `null` if it has a URL. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  destination: string | null;

  /**
   * Status of the destination; `null` if the endpoint has a URL. `gone` means that the destination was deleted, so
   * deliveries to it fail.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsIn(DESTINATION_STATUSES)
  destination_status: (typeof DESTINATION_STATUSES)[number] | null;

  /** Human-readable description. */
  @ApiProperty({ example: 'The production system' })
  @IsString()
  description: string;

  /** Event types that the endpoint subscribes to; empty for all types. */
  @ApiProperty({ example: ['invoice.paid', 'customer.*'] })
  @IsArray()
  @IsString({ each: true })
  event_types: string[];

  /** Channels of the endpoint; empty if it receives messages of all channels. */
  @ApiProperty({ example: ['project-42'] })
  @IsArray()
  @IsString({ each: true })
  channels: string[];

  /** Condition on the payload that messages must match; `null` matches all messages. */
  @ApiProperty({ example: { path: '$.amount', op: 'gte', value: '1000' } })
  @CanBeNull()
  @IsObject()
  filter: Record<string, unknown> | null;

  /** Your own key-value data. */
  @ApiProperty({ example: { plan: 'pro' } })
  @IsStringMap()
  metadata: Record<string, string>;

  /**
   * Status of the endpoint. A `disabled` endpoint receives no deliveries until it is enabled. Deliveries in the
   * meantime fail immediately and can be replayed later.
   */
  @ApiProperty({ example: 'active' })
  @IsIn(STATUSES)
  status: (typeof STATUSES)[number];

  /** Reason for disabling the endpoint; `null` while it is active. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  disabled_reason: string | null;

  /** Circuit breaker of the endpoint's URL; `null` if the endpoint uses a destination. */
  @CanBeNull()
  @IsObjectOf(() => EndpointCircuitItem)
  circuit: EndpointCircuitItem | null;

  /** Time of creation. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the last change. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  updated_at: string;
}

/** An endpoint with its delivery settings. The settings are absent if the endpoint uses a destination. */
export class ApplicationEndpointDetail extends IntersectionType(
  ApplicationEndpointItem,
  PartialType(DeliverySettingsItem, { skipNullProperties: false }),
) {}

/** A newly created endpoint. */
export class ApplicationEndpointCreated extends ApplicationEndpointDetail {
  /**
   * Secret that signs the endpoint's deliveries. The API returns it only here and at `…/secret`. It is `null` if the
   * endpoint uses a destination, which has its own secret. It is also `null` for a portal session without permission to
   * see secrets.
   */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  @CanBeNull()
  @IsString()
  secret: string | null;

  /**
   * Public key that verifies `v1a` signatures: `whpk_` followed by the key in base64. It is `null` unless `asymmetric`
   * is set.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  public_key: string | null;
}

/** One page of endpoints, newest first. */
export class ApplicationEndpointPage {
  /** Endpoints on this page. */
  @IsArrayOf(() => ApplicationEndpointDetail)
  data: ApplicationEndpointDetail[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

export function presentEndpoint(view: ApplicationEndpointView): ApplicationEndpointDetail {
  const { row, owned, destinationStatus } = view;
  const { status, disabledReason } = statusOf(view);
  const updatedAt = owned && owned.updatedAt > row.updatedAt ? owned.updatedAt : row.updatedAt;
  return {
    id: showId('ep', row.id),
    uid: row.uid,
    application: showId('app', row.applicationId),
    url: owned?.url ?? null,
    destination: owned ? null : showId('dst', row.destinationId),
    destination_status: destinationStatus,
    description: row.description,
    event_types: row.eventTypes,
    channels: row.channels,
    filter: row.filter,
    metadata: row.metadata,
    status,
    disabled_reason: disabledReason,
    circuit: presentCircuit(owned && owned.circuit),
    ...owned?.settings,
    created_at: row.createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

/**
 * Returns the endpoint with the fields that the caller may see. Sensitive headers are shown only to callers with a key
 * that has write access.
 */
export function presentEndpointTo(caller: Caller, view: ApplicationEndpointView): ApplicationEndpointDetail {
  const { metadata, ...rest } = presentEndpoint(view);
  // The organization's own metadata is hidden from its customer.
  const shown = { ...rest, metadata: caller.portal === undefined ? metadata : {} };
  return shown.headers ? { ...shown, headers: shownHeaders(shown.headers, caller) } : shown;
}

export function presentEndpoints(
  { views, nextCursor }: { views: ApplicationEndpointView[]; nextCursor: string | null },
  caller: Caller,
): ApplicationEndpointPage {
  return { data: views.map((view) => presentEndpointTo(caller, view)), next_cursor: nextCursor };
}

/** Returns the new endpoint. Omits the secret for a portal session without permission to see secrets. */
export function presentCreated(
  caller: Caller,
  view: ApplicationEndpointView,
  secret: ShownSecret | null,
): ApplicationEndpointCreated {
  const shown = caller.portal === undefined || caller.portal.permissions.includes('secrets') ? secret : null;
  return { ...presentEndpointTo(caller, view), secret: shown?.secret ?? null, public_key: shown?.publicKey ?? null };
}
