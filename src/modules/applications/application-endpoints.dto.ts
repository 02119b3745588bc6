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

/** Filters of the list of an application's endpoints. */
export class ApplicationEndpointListQuery {
  /** Only endpoints with this status. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'active' })
  status?: (typeof STATUSES)[number];

  /** Only endpoints that subscribe to this type. */
  @ApiProperty({ required: false, maxLength: 256, example: 'invoice.paid' })
  event_type?: string;

  /** Where to go on: the `next_cursor` of the page before, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/**
 * What of an endpoint may be given when it is created and changed later. How deliveries go out (`headers` to
 * `legacy_signature`) can be said of an endpoint with a URL only.
 */
export class ApplicationEndpointFieldsBody extends DeliverySettingsBody {
  /** Your own id of the endpoint, unique in its application: 1 to 256 letters, digits and `. _ : @ + ~ -`, not beginning with `ep_`. */
  @ApiProperty({ required: false, type: String, maxLength: 256, nullable: true, example: 'production' })
  uid?: string | null;

  /** What it is, for people. */
  @ApiProperty({ required: false, type: String, maxLength: 500, nullable: true, example: 'The production system' })
  description?: string | null;

  /** Event types that it subscribes to: exact ones, and `prefix.*` for everything below `prefix.`; none for all. */
  @ApiProperty({ required: false, ...TYPES, nullable: true })
  event_types?: string[] | null;

  /** With channels, it gets only messages that name one of them. */
  @ApiProperty({ required: false, ...CHANNELS, nullable: true })
  channels?: string[] | null;

  /** Which messages: a condition on the payload in the grammar of route filters; null for all. */
  @ApiPropertyOptional(FILTER)
  filter?: Record<string, unknown> | null;

  /** Notes of your own: up to 50 keys of 1 to 40 characters, with values of up to 500. */
  @ApiPropertyOptional({ ...METADATA, nullable: true })
  metadata?: Record<string, string> | null;
}

/** The endpoint to create: with a URL, or with a destination of the registry. */
@Examples({
  url: {
    summary: 'A URL of the customer',
    value: { url: 'https://example.com/webhooks', event_types: ['invoice.paid', 'customer.*'] },
  },
  destination: { summary: 'A destination of the registry', value: { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' } },
})
export class NewApplicationEndpointBody extends ApplicationEndpointFieldsBody {
  /** Where it is. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    nullable: true,
    example: 'https://example.com/webhooks',
  })
  url?: string | null;

  /** The destination that it goes to, in place of a URL: an SQS queue, or one to pull from. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 64,
    nullable: true,
    example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  destination?: string | null;

  /** A signing secret that its receiver knows already; a new one is made when left out. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 200,
    nullable: true,
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  })
  secret?: string | null;
}

/** What to change of an endpoint: what is left out stays, null goes back to the default. */
@Fixed({ secret: 'cannot be set: rotate it with POST …/secret/rotate' })
@Examples({
  types: { summary: 'Other event types', value: { event_types: ['invoice.*'] } },
  disable: {
    summary: 'Stop its deliveries',
    value: { status: 'disabled', disabled_reason: 'The customer asked for it.' },
  },
  enable: { summary: 'Start them again', value: { status: 'active' } },
})
export class ApplicationEndpointChangesBody extends ApplicationEndpointFieldsBody {
  /** Another URL, for an endpoint that has one; null says nothing. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    nullable: true,
    example: 'https://example.com/webhooks',
  })
  url?: string | null;

  /** Another destination, for an endpoint that goes to one; null says nothing. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 64,
    nullable: true,
    example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  destination?: string | null;

  /** `active` enables it and closes the circuit of its URL, `disabled` stops its deliveries. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'disabled' })
  status?: (typeof STATUSES)[number];

  /** Why it is disabled, beside `status: disabled`; the reason of one that is disabled already stays. */
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

/** The URL to try. */
export class EndpointUrlBody {
  /** Where an endpoint could be. */
  @ApiProperty({ minLength: 1, maxLength: 2048, example: 'https://example.com/webhooks' })
  url: string;
}

/** Whether a URL can be reached. */
export class EndpointUrlItem {
  /** True when it can be reached. */
  @ApiProperty({ example: true })
  ok: boolean;

  /** A sentence for people. */
  @ApiProperty({ example: 'The target answered with status 200.' })
  detail: string;
}

/** How to rotate the secret of an endpoint. */
@Examples({
  day: { summary: 'Both secrets sign for a day', value: { grace_seconds: 86_400 } },
  now: { summary: 'The old secret ends now', value: { grace_seconds: 0 } },
})
export class ApplicationEndpointRotationBody {
  /** How long the old secret goes on signing beside the new one, in seconds. */
  @ApiProperty({ required: false, type: 'integer', minimum: 0, maximum: 604_800, default: 86_400, example: 86_400 })
  grace_seconds?: number;
}

/** What an endpoint is by itself. */
export class ApplicationEndpointItem {
  /** The endpoint's id. */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Your own id of the endpoint; null without one. */
  @ApiProperty({ type: String, nullable: true, example: 'production' })
  uid: string | null;

  /** The application that it belongs to. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  application: string;

  /** Where it is; null for one that goes to a destination. */
  @ApiProperty({ type: String, nullable: true, example: 'https://example.com/webhooks' })
  url: string | null;

  /** The destination of the registry that it goes to; null for one with a URL. */
  @ApiProperty({ type: String, nullable: true, example: null })
  destination: string | null;

  /** How that destination is: `gone` when it was deleted, and what is sent to it fails; null for one with a URL. */
  @ApiProperty({ type: String, enum: [...DESTINATION_STATUSES, null], nullable: true, example: null })
  destination_status: (typeof DESTINATION_STATUSES)[number] | null;

  /** What it is, for people. */
  @ApiProperty({ example: 'The production system' })
  description: string;

  /** Event types that it subscribes to; none for all. */
  @ApiProperty({ type: [String], example: ['invoice.paid', 'customer.*'] })
  event_types: string[];

  /** Channels that it listens to; none for all messages. */
  @ApiProperty({ type: [String], example: ['project-42'] })
  channels: string[];

  /** Which messages; null for all. */
  @ApiProperty(FILTER)
  filter: Record<string, unknown> | null;

  /** Notes of your own. */
  @ApiProperty(METADATA)
  metadata: Record<string, string>;

  /** `disabled` takes no deliveries until it is enabled: what is sent meanwhile fails at once, and can be sent again. */
  @ApiProperty({ enum: STATUSES, example: 'active' })
  status: (typeof STATUSES)[number];

  /** Why it is disabled; null while it is active. */
  @ApiProperty({ type: String, nullable: true, example: null })
  disabled_reason: string | null;

  /** The circuit breaker of its URL; null for one that goes to a destination. */
  @ApiProperty({ type: EndpointCircuitItem, nullable: true })
  circuit: EndpointCircuitItem | null;

  /** When it was created. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When it was changed last. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  updated_at: string;
}

/** An endpoint; how deliveries go out is left out of one that goes to a destination. */
export class ApplicationEndpointDetail extends IntersectionType(
  ApplicationEndpointItem,
  PartialType(DeliverySettingsItem),
) {}

/** An endpoint that was just created. */
export class ApplicationEndpointCreated extends ApplicationEndpointDetail {
  /** What signs its deliveries, shown this once and at `…/secret`; null for one that goes to a destination, which has its own, and for a portal that may see no secrets. */
  @ApiProperty({ type: String, nullable: true, example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  secret: string | null;

  /** `whpk_` and the public key in base64, which verifies `v1a` signatures; null unless `asymmetric`. */
  @ApiProperty({ type: String, nullable: true, example: null })
  public_key: string | null;
}

/** One page of endpoints, newest first. */
export class ApplicationEndpointPage {
  /** The endpoints of this page. */
  @ApiProperty({ type: [ApplicationEndpointDetail] })
  data: ApplicationEndpointDetail[];

  /** Pass it as `cursor` for the next page; null on the last one. */
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

/** As a caller may see it: sensitive headers are for who may write with a key. */
export function presentEndpointTo(caller: Caller, view: ApplicationEndpointView): ApplicationEndpointDetail {
  const { metadata, ...rest } = presentEndpoint(view);
  // Notes of the company are not for its customer.
  const shown = { ...rest, metadata: caller.portal === undefined ? metadata : {} };
  return shown.headers ? { ...shown, headers: shownHeaders(shown.headers, caller) } : shown;
}

export function presentEndpoints(
  { views, nextCursor }: { views: ApplicationEndpointView[]; nextCursor: string | null },
  caller: Caller,
): ApplicationEndpointPage {
  return { data: views.map((view) => presentEndpointTo(caller, view)), next_cursor: nextCursor };
}

/** A portal without the permission is shown no secret, here neither. */
export function presentCreated(
  caller: Caller,
  view: ApplicationEndpointView,
  secret: ShownSecret | null,
): ApplicationEndpointCreated {
  const shown = caller.portal === undefined || caller.portal.permissions.includes('secrets') ? secret : null;
  return { ...presentEndpointTo(caller, view), secret: shown?.secret ?? null, public_key: shown?.publicKey ?? null };
}
