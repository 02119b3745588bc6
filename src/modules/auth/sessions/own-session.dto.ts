import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsIn, IsInt, IsString } from 'class-validator';
import { CanBeNull, IsDateTime, IsObjectOf } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import { type Scope, SCOPES } from '#kernel/tenant.js';
import type { SignedIn, SignInWay } from '#modules/auth/sessions.contract.js';
import { IDLE_MS_MAX } from './sessions.js';

const WAYS = ['key', 'code', 'oidc'] as const;
const MODES = ['live', 'test'] as const;

/** The organization that the user is signed in to. */
export class SessionOrganization {
  /** Id of the organization. */
  @ApiProperty({ example: 'org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Name of the organization. */
  @ApiProperty({ example: 'Example Inc.' })
  @IsString()
  name: string;

  /** Short name of the organization in the URLs of endpoints. */
  @ApiProperty({ example: 'example' })
  @IsString()
  slug: string;
}

/** The member who is signed in. */
export class SessionMember {
  /** Id of the member. */
  @ApiProperty({ example: 'mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Email address of the member. */
  @ApiProperty({ example: 'ada@example.com' })
  @IsString()
  email: string;

  /** Display name of the member. Empty if none was given. */
  @ApiProperty({ example: 'Ada' })
  @IsString()
  name: string;
}

/** The API key that was used to sign in. */
export class SessionKey {
  /** Id of the key. */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Name of the key. */
  @ApiProperty({ example: 'Billing service' })
  @IsString()
  name: string;
}

/** Your own session. */
export class OwnSessionItem {
  /** Id of the session. */
  @ApiProperty({ example: 'ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Sign-in method: an API key, a code sent by email, or the identity provider. */
  @ApiProperty({ example: 'code' })
  @IsIn(WAYS)
  how: SignInWay;

  /** Display name for the user: the member's name or email address, or the name of the key. */
  @ApiProperty({ example: 'Ada' })
  @IsString()
  name: string;

  /** The signed-in member. `null` if the session was opened with a key. */
  @CanBeNull()
  @IsObjectOf(() => SessionMember)
  member: SessionMember | null;

  /** The key that opened the session. `null` if a member opened it. */
  @CanBeNull()
  @IsObjectOf(() => SessionKey)
  key: SessionKey | null;

  /** The organization of the session. */
  @IsObjectOf(() => SessionOrganization)
  organization: SessionOrganization;

  /** Permissions of the session: the member's role or the scope of the key. */
  @ApiProperty({ example: 'admin' })
  @IsIn(SCOPES)
  scope: Scope;

  /** Environments that the session may name in the `X-Posthorn-Environment` header. */
  @ApiProperty({ example: ['live', 'test'] })
  @IsArray()
  @IsIn(MODES, { each: true })
  environments: ('live' | 'test')[];

  /** Time at which the session ends, even if the session is still in use. */
  @ApiProperty({ example: '2026-11-28T09:30:00.000Z' })
  @IsDateTime()
  expires_at: string;

  /** Number of seconds without a request after which the session ends early. */
  @ApiProperty({ example: 43_200 })
  @IsInt()
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
