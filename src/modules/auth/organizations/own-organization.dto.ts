import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { showId } from '#kernel/ids.js';
import type { OrganizationChanges, OrganizationView } from './own-organization.service.js';

/** What to change of the organization; what is left out stays. */
@Examples({
  name: { summary: 'Another name', value: { name: 'Acme' } },
  retention: { summary: 'What is accepted is kept for 30 days', value: { retention_days: 30 } },
  portal: {
    summary: "Where the customers' portal may stand in a frame",
    value: { portal_origins: ['https://app.example.com'] },
  },
  system: {
    summary: "Where the service's own events go",
    value: { system_destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
  },
})
export class OrgChangesBody {
  /** What people know it by. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, example: 'Acme' })
  name?: string;

  /** Its part of receive URLs and platform addresses: unique on this installation. */
  @ApiProperty({ required: false, pattern: '^[a-z0-9-]{1,40}$', example: 'acme' })
  slug?: string;

  /** How many days the calling key's environment keeps what it accepts from now on; from 60 days on it may keep it longer by a thirtieth. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 365, example: 30 })
  retention_days?: number;

  /** Whether anybody may read that environment's event types, at `/catalog/{slug}` or `/catalog/{slug}/test`. */
  @ApiProperty({ required: false, type: Boolean, example: false })
  public_event_catalog?: boolean;

  /** The destination that gets the service's own events of that environment (see `GET /v1/system-events`); null for none. */
  @ApiProperty({
    required: false,
    type: String,
    nullable: true,
    maxLength: 64,
    example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  system_destination?: string | null;

  /** Which origins may show that environment's customers' portal in a frame: https, or http on the own computer in test. None for none: then it opens as a page alone. */
  @ApiProperty({
    required: false,
    type: 'array',
    items: { type: 'string', maxLength: 300 },
    maxItems: 20,
    uniqueItems: true,
    example: ['https://app.example.com'],
  })
  portal_origins?: string[];
}

/** The organization, seen from the calling key's environment. */
export class OrgItem {
  /** The organization's id. */
  @ApiProperty({ example: 'org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** What people know it by. */
  @ApiProperty({ example: 'Acme' })
  name: string;

  /** Its part of receive URLs and platform addresses. */
  @ApiProperty({ example: 'acme' })
  slug: string;

  /** The calling key's environment. */
  @ApiProperty({ enum: ['live', 'test'], example: 'live' })
  environment: 'live' | 'test';

  /** How many days that environment keeps events, attempts and dead letters. */
  @ApiProperty({ type: 'integer', example: 30 })
  retention_days: number;

  /** Whether anybody may read that environment's event types, at `/catalog/{slug}` or `/catalog/{slug}/test`. */
  @ApiProperty({ example: false })
  public_event_catalog: boolean;

  /** The destination that gets the service's own events of that environment; null for none, and when it was deleted. */
  @ApiProperty({ type: String, nullable: true, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  system_destination: string | null;

  /** Which origins may show that environment's customers' portal in a frame. */
  @ApiProperty({ type: [String], example: ['https://app.example.com'] })
  portal_origins: string[];

  /** When it was created. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;
}

/** How to rotate a signing secret. */
@Examples({
  day: { summary: 'Both secrets sign for a day', value: { grace_seconds: 86_400 } },
  now: { summary: 'The old secret ends now', value: { grace_seconds: 0 } },
})
export class SecretRotationBody {
  /** How long the old secret goes on signing beside the new one, in seconds. */
  @ApiProperty({ required: false, type: 'integer', minimum: 0, maximum: 604_800, default: 86_400, example: 86_400 })
  grace_seconds?: number;
}

/** A signing secret of Standard Webhooks. */
export class SigningSecret {
  /** `whsec_` and the key in base64: receivers verify with it. */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  secret: string;
}

export function organizationChanges(body: OrgChangesBody): OrganizationChanges {
  const {
    name,
    slug,
    retention_days: retentionDays,
    public_event_catalog: publicEventCatalog,
    system_destination: systemDestination,
    portal_origins: portalOrigins,
  } = body;
  return { name, slug, retentionDays, publicEventCatalog, systemDestination, portalOrigins };
}

export function presentOrganization({ organization, environment }: OrganizationView): OrgItem {
  return {
    id: showId('org', organization.id),
    name: organization.name,
    slug: organization.slug,
    environment: environment.mode,
    retention_days: environment.retentionDays,
    public_event_catalog: environment.publicEventCatalog,
    system_destination: environment.systemDestinationId && showId('dst', environment.systemDestinationId),
    portal_origins: environment.portalOrigins,
    created_at: organization.createdAt.toISOString(),
  };
}
