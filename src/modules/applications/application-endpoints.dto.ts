import { ApiProperty, ApiPropertyOptional, IntersectionType, PartialType } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import { showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import { EndpointCircuitItem, presentCircuit } from '#modules/applications/contract.dto.js';
import { DeliverySettingsBody, DeliverySettingsItem } from '#modules/destinations/contract.dto.js';
import type { ShownSecret } from '#modules/destinations/contract.js';
import { type ApplicationEndpointView, statusOf } from './application-endpoints.service.js';
import { METADATA } from './applications.dto.js';

const STATUSES = ['active', 'disabled'] as const;
const DESTINATION_STATUSES = [...STATUSES, 'gone'] as const;
const TYPES = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 256 },
  maxItems: 200,
  example: ['invoice.paid', 'customer.*'],
} as const;
const CHANNELS = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 256 },
  maxItems: 50,
  example: ['project-42'],
} as const;
const FILTER = {
  type: 'object',
  additionalProperties: true,
  nullable: true,
  example: { path: '$.amount', op: 'gte', value: '1000' },
} as const;

/** Filters for the endpoints of an application. */
export class ApplicationEndpointListQuery {
  /** Returns only endpoints with this status. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'active' })
  status?: (typeof STATUSES)[number];

  /** Returns only endpoints that subscribe to this event type. */
  @ApiProperty({ required: false, maxLength: 256, example: 'invoice.paid' })
  event_type?: string;

  /** Start of the page: the `next_cursor` of the previous page, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/**
 * Endpoint fields that can be set on creation and changed later. The delivery settings (`headers` to
 * `legacy_signature`) are valid only for an endpoint with a URL.
 */
export class ApplicationEndpointFieldsBody extends DeliverySettingsBody {
  /**
   * Your own id of the endpoint, unique within its application: 1 to 256 letters, digits and `. _ : @ + ~ -`. It must
   * not begin with `ep_`.
   */
  @ApiProperty({ required: false, type: String, maxLength: 256, nullable: true, example: 'production' })
  uid?: string | null;

  /** Human-readable description. */
  @ApiProperty({ required: false, type: String, maxLength: 500, nullable: true, example: 'The production system' })
  description?: string | null;

  /**
   * Event types that the endpoint subscribes to. Each entry is an exact type, or `prefix.*` for all types that begin
   * with `prefix.`. Without entries it subscribes to all types.
   */
  @ApiProperty({ required: false, ...TYPES, nullable: true })
  event_types?: string[] | null;

  /** Channels of the endpoint. If set, the endpoint receives only messages that name at least one of these channels. */
  @ApiProperty({ required: false, ...CHANNELS, nullable: true })
  channels?: string[] | null;

  /**
   * Condition on the payload, in the grammar of route filters. The endpoint receives only messages that match; `null`
   * matches all messages.
   */
  @ApiPropertyOptional(FILTER)
  filter?: Record<string, unknown> | null;

  /** Your own key-value data: up to 50 keys of 1 to 40 characters each, with values of up to 500 characters. */
  @ApiPropertyOptional({ ...METADATA, nullable: true })
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
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    nullable: true,
    example: 'https://example.com/webhooks',
  })
  url?: string | null;

  /**
   * Id of the destination that receives the deliveries instead of a URL, for example an SQS queue or a pull
   * destination.
   */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 64,
    nullable: true,
    example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  destination?: string | null;

  /** Signing secret that the receiver already knows. If omitted, a new secret is generated. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 200,
    nullable: true,
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  })
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
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    nullable: true,
    example: 'https://example.com/webhooks',
  })
  url?: string | null;

  /** Id of the new destination, for an endpoint that uses a destination. `null` has no effect. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 64,
    nullable: true,
    example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  destination?: string | null;

  /** `active` enables the endpoint and closes the circuit of its URL. `disabled` stops its deliveries. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'disabled' })
  status?: (typeof STATUSES)[number];

  /**
   * Reason for disabling the endpoint; valid only together with `status: disabled`. If the endpoint is already
   * disabled, its existing reason is kept.
   */
  @ApiProperty({
    required: false,
    type: String,
    minLength: 1,
    maxLength: 500,
    nullable: true,
    example: 'The customer asked for it.',
  })
  disabled_reason?: string | null;
}

/** The URL to check. */
export class EndpointUrlBody {
  /** URL to check. */
  @ApiProperty({ minLength: 1, maxLength: 2048, example: 'https://example.com/webhooks' })
  url: string;
}

/** Result of a reachability check for a URL. */
export class EndpointUrlItem {
  /** True if the URL can be reached. */
  @ApiProperty({ example: true })
  ok: boolean;

  /** Human-readable result, as one sentence. */
  @ApiProperty({ example: 'The target answered with status 200.' })
  detail: string;
}

/** Options for rotating the signing secret of an endpoint. */
@Examples({
  day: { summary: 'Both secrets sign for one day', value: { grace_seconds: 86_400 } },
  now: { summary: 'The old secret stops signing immediately', value: { grace_seconds: 0 } },
})
export class ApplicationEndpointRotationBody {
  /** Number of seconds for which the old secret signs in addition to the new secret. */
  @ApiProperty({ required: false, type: 'integer', minimum: 0, maximum: 604_800, default: 86_400, example: 86_400 })
  grace_seconds?: number;
}

/** The endpoint's own fields, without delivery settings. */
export class ApplicationEndpointItem {
  /** Id of the endpoint. */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Your own id of the endpoint; `null` if it has none. */
  @ApiProperty({ type: String, nullable: true, example: 'production' })
  uid: string | null;

  /** Id of the application that the endpoint belongs to. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  application: string;

  /** URL of the endpoint; `null` if it uses a destination. */
  @ApiProperty({ type: String, nullable: true, example: 'https://example.com/webhooks' })
  url: string | null;

  /** Id of the destination that the endpoint uses; `null` if it has a URL. */
  @ApiProperty({ type: String, nullable: true, example: null })
  destination: string | null;

  /**
   * Status of the destination; `null` if the endpoint has a URL. `gone` means that the destination was deleted, so
   * deliveries to it fail.
   */
  @ApiProperty({ type: String, enum: [...DESTINATION_STATUSES, null], nullable: true, example: null })
  destination_status: (typeof DESTINATION_STATUSES)[number] | null;

  /** Human-readable description. */
  @ApiProperty({ example: 'The production system' })
  description: string;

  /** Event types that the endpoint subscribes to; empty for all types. */
  @ApiProperty({ type: [String], example: ['invoice.paid', 'customer.*'] })
  event_types: string[];

  /** Channels of the endpoint; empty if it receives messages of all channels. */
  @ApiProperty({ type: [String], example: ['project-42'] })
  channels: string[];

  /** Condition on the payload that messages must match; `null` matches all messages. */
  @ApiProperty(FILTER)
  filter: Record<string, unknown> | null;

  /** Your own key-value data. */
  @ApiProperty(METADATA)
  metadata: Record<string, string>;

  /**
   * Status of the endpoint. A `disabled` endpoint receives no deliveries until it is enabled. Deliveries in the
   * meantime fail immediately and can be replayed later.
   */
  @ApiProperty({ enum: STATUSES, example: 'active' })
  status: (typeof STATUSES)[number];

  /** Reason for disabling the endpoint; `null` while it is active. */
  @ApiProperty({ type: String, nullable: true, example: null })
  disabled_reason: string | null;

  /** Circuit breaker of the endpoint's URL; `null` if the endpoint uses a destination. */
  @ApiProperty({ type: EndpointCircuitItem, nullable: true })
  circuit: EndpointCircuitItem | null;

  /** Time of creation. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** Time of the last change. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  updated_at: string;
}

/** An endpoint with its delivery settings. The settings are absent if the endpoint uses a destination. */
export class ApplicationEndpointDetail extends IntersectionType(
  ApplicationEndpointItem,
  PartialType(DeliverySettingsItem),
) {}

/** A newly created endpoint. */
export class ApplicationEndpointCreated extends ApplicationEndpointDetail {
  /**
   * Secret that signs the endpoint's deliveries. The API returns it only here and at `…/secret`. It is `null` if the
   * endpoint uses a destination, which has its own secret. It is also `null` for a portal session without permission to
   * see secrets.
   */
  @ApiProperty({ type: String, nullable: true, example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  secret: string | null;

  /**
   * Public key that verifies `v1a` signatures: `whpk_` followed by the key in base64. It is `null` unless `asymmetric`
   * is set.
   */
  @ApiProperty({ type: String, nullable: true, example: null })
  public_key: string | null;
}

/** One page of endpoints, newest first. */
export class ApplicationEndpointPage {
  /** Endpoints on this page. */
  @ApiProperty({ type: [ApplicationEndpointDetail] })
  data: ApplicationEndpointDetail[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ type: String, nullable: true, example: null })
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

/** Omits the secret for a portal session without permission to see secrets. */
export function presentCreated(
  caller: Caller,
  view: ApplicationEndpointView,
  secret: ShownSecret | null,
): ApplicationEndpointCreated {
  const shown = caller.portal === undefined || caller.portal.permissions.includes('secrets') ? secret : null;
  return { ...presentEndpointTo(caller, view), secret: shown?.secret ?? null, public_key: shown?.publicKey ?? null };
}
