import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsDateTime } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import type { OrganizationChanges, OrganizationView } from './own-organization.service.js';

/** Changes to the organization. Omitted fields keep their value. */
@Examples({
  name: { summary: 'Change the name', value: { name: 'Acme' } },
  retention: { summary: 'Keep accepted events for 30 days', value: { retention_days: 30 } },
  portal: {
    summary: "Set the origins that may show the customers' portal in a frame",
    value: { portal_origins: ['https://app.example.com'] },
  },
  system: {
    summary: 'Set the destination that receives system events',
    value: { system_destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
  },
})
export class OrgChangesBody {
  /** Display name. */
  @ApiProperty({ example: 'Acme' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 200)
  name?: string;

  /**
   * Short name of the organization in the URLs of endpoints and in platform email addresses. Unique on this
   * installation.
   */
  @ApiProperty({ example: 'acme' })
  @CanBeOmitted()
  @IsString()
  @Matches(/^[a-z0-9-]{1,40}$/u)
  slug?: string;

  /**
   * Number of days for which the calling key's environment keeps data. A change applies to data accepted from then on.
   * If the number is 60 or more, data may be kept up to a thirtieth of the period longer.
   */
  @ApiProperty({ example: 30 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(365)
  retention_days?: number;

  /**
   * `true` if the event types of the environment are public. They are published at `/catalog/{slug}` (live) or
   * `/catalog/{slug}/test` (test).
   */
  @ApiProperty({ example: false })
  @CanBeOmitted()
  @IsBoolean()
  public_event_catalog?: boolean;

  /**
   * Destination that receives the service's own events of the environment (see `GET /v1/system-events`). `null` for
   * none.
   */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  system_destination?: string | null;

  /**
   * Origins whose pages may show the environment's customer portal in a frame. Origins must use https; the test
   * environment also allows http on the local computer. If the list is empty, the portal opens only as a separate page.
   */
  @ApiProperty({ example: ['https://app.example.com'] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMaxSize(20)
  @ArrayUnique()
  @IsString({ each: true })
  @MaxLength(300, { each: true })
  portal_origins?: string[];
}

/** The organization, as seen from the calling key's environment. */
export class OrgItem {
  /** Id of the organization. */
  @ApiProperty({ example: 'org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Display name. */
  @ApiProperty({ example: 'Acme' })
  @IsString()
  name: string;

  /** Short name of the organization in the URLs of endpoints and in platform email addresses. */
  @ApiProperty({ example: 'acme' })
  @IsString()
  slug: string;

  /** Environment of the calling key. */
  @ApiProperty({ example: 'live' })
  @IsIn(['live', 'test'])
  environment: 'live' | 'test';

  /** Number of days for which the environment keeps events, attempts and dead letters. */
  @ApiProperty({ example: 30 })
  @IsInt()
  retention_days: number;

  /**
   * `true` if the event types of the environment are public. They are published at `/catalog/{slug}` (live) or
   * `/catalog/{slug}/test` (test).
   */
  @ApiProperty({ example: false })
  @IsBoolean()
  public_event_catalog: boolean;

  /**
   * Destination that receives the service's own events of the environment. `null` if no destination is configured, or
   * if the configured destination was deleted.
   */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  system_destination: string | null;

  /** Origins whose pages may show the environment's customer portal in a frame. */
  @ApiProperty({ example: ['https://app.example.com'] })
  @IsArray()
  @IsString({ each: true })
  portal_origins: string[];

  /** Time of creation. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;
}

/** Options for the rotation of a signing secret. */
@Examples({
  day: { summary: 'Sign with both secrets for a day', value: { grace_seconds: 86_400 } },
  now: { summary: 'Stop using the old secret now', value: { grace_seconds: 0 } },
})
export class SecretRotationBody {
  /** Time in seconds for which deliveries are still signed with the old secret, in addition to the new one. */
  @ApiProperty({ default: 86_400, example: 86_400 })
  @CanBeOmitted()
  @IsInt()
  @Min(0)
  @Max(604_800)
  grace_seconds?: number;
}

/** A signing secret in the format of Standard Webhooks. */
export class SigningSecret {
  /** `whsec_` followed by the key in base64. Receivers use this secret to verify signatures. */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  @IsString()
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
