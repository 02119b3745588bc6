import { ApiProperty } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import { type Scope, SCOPES } from '#kernel/tenant.js';
import type { SignedIn, SignInWay } from '#modules/auth/sessions.contract.js';
import { IDLE_MS_MAX } from './cached-sessions.js';

const WAYS = ['key', 'code', 'oidc'] as const;
const MODES = ['live', 'test'] as const;

/** The organization that somebody is signed in to. */
export class SessionOrganization {
  /** Its id. */
  @ApiProperty({ example: 'org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** What it is called. */
  @ApiProperty({ example: 'Example Inc.' })
  name: string;

  /** Its part of receive URLs. */
  @ApiProperty({ example: 'example' })
  slug: string;
}

/** The member who is signed in. */
export class SessionMember {
  /** Its id. */
  @ApiProperty({ example: 'mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The address. */
  @ApiProperty({ example: 'ada@example.com' })
  email: string;

  /** What the member is called; empty when nobody said. */
  @ApiProperty({ example: 'Ada' })
  name: string;
}

/** The key that somebody signed in with. */
export class SessionKey {
  /** Its id. */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** What it is called. */
  @ApiProperty({ example: 'Billing service' })
  name: string;
}

/** Your own session. */
export class OwnSessionItem {
  /** The session's id. */
  @ApiProperty({ example: 'ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** How you signed in: with an API key, with a code by email, through the identity provider. */
  @ApiProperty({ enum: WAYS, example: 'code' })
  how: SignInWay;

  /** What to call you: the member's name or address, or the name of the key. */
  @ApiProperty({ example: 'Ada' })
  name: string;

  /** The member; null when a key opened the session. */
  @ApiProperty({ type: SessionMember, nullable: true })
  member: SessionMember | null;

  /** The key that opened the session; null for a member's. */
  @ApiProperty({ type: SessionKey, nullable: true })
  key: SessionKey | null;

  /** The organization. */
  @ApiProperty({ type: SessionOrganization })
  organization: SessionOrganization;

  /** What you may do: the member's role, or the scope of the key. */
  @ApiProperty({ enum: SCOPES, example: 'admin' })
  scope: Scope;

  /** The environments that you may name in `X-Posthorn-Environment`. */
  @ApiProperty({ enum: MODES, isArray: true, example: ['live', 'test'] })
  environments: ('live' | 'test')[];

  /** When it ends at the latest. */
  @ApiProperty({ format: 'date-time', example: '2026-11-28T09:30:00.000Z' })
  expires_at: string;

  /** So many seconds without a request end it before. */
  @ApiProperty({ type: 'integer', example: 43_200 })
  idle_seconds: number;
}

export function presentOwnSession({
  sessionId,
  how,
  member,
  key,
  role,
  modes,
  expiresAt,
  ...organization
}: SignedIn): OwnSessionItem {
  return {
    id: showId('ses', sessionId),
    how,
    name: (member === null ? key?.name : member.name || member.email) ?? '',
    member: member && { id: showId('mbr', member.id), email: member.email, name: member.name },
    key: key && { id: showId('ek', key.id), name: key.name },
    organization: {
      id: showId('org', organization.organizationId),
      name: organization.organizationName,
      slug: organization.organizationSlug,
    },
    scope: role,
    environments: [...modes],
    expires_at: expiresAt.toISOString(),
    idle_seconds: IDLE_MS_MAX / 1000,
  };
}
