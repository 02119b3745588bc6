import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import { MemberItem, newMember, presentMember } from '../members/members.dto.js';
import type { MadeOrganization, NewOrganization } from './organizations.service.js';
import type { OrgRow } from './organizations.store.js';

/** Pagination parameters of the organization list. */
export class OrgListQuery {
  /** Cursor of the page to return: the `next_cursor` of the previous page. Returns the first page if omitted. */
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

/** The first admin of an organization. */
export class FirstAdminBody {
  /** Email address that receives sign-in codes. */
  @ApiProperty({ example: 'ada@example.com' })
  @IsString()
  @Length(3, 254)
  email: string;

  /** Display name of the member. Defaults to the email address. */
  @ApiProperty({ example: 'Ada' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 200)
  name?: string;
}

/** The organization to create. */
@Examples({
  acme: {
    summary: 'An organization with its first admin',
    value: { slug: 'acme', name: 'Acme', admin: { email: 'ada@example.com', name: 'Ada' } },
  },
})
export class NewOrgBody {
  /** Short name of the organization in the URLs of endpoints: lower-case letters, digits and `-`. */
  @ApiProperty({ example: 'acme' })
  @IsString()
  @Length(1, 63)
  @Matches(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/u)
  slug: string;

  /** Display name. */
  @ApiProperty({ example: 'Acme' })
  @IsString()
  @Length(1, 200)
  name: string;

  /** First admin of the organization. */
  @ApiProperty()
  @IsObjectOf(() => FirstAdminBody)
  admin: FirstAdminBody;
}

/** An organization as shown to the operator. */
export class OperatedOrg {
  /** Id of the organization. */
  @ApiProperty({ example: 'org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Short name of the organization in the URLs of endpoints. Becomes `removed-…` when the organization is removed. */
  @ApiProperty({ example: 'acme' })
  @IsString()
  slug: string;

  /** Display name. */
  @ApiProperty({ example: 'Acme' })
  @IsString()
  name: string;

  /** Time of creation. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time since which all access has been rejected. `null` if the organization is not removed. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  removed_at: string | null;

  /**
   * Time at which the erasure of all configuration was complete. `null` if it is not complete yet. Accepted events are
   * deleted when their retention period ends.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  erased_at: string | null;
}

/** A newly created organization with its first keys. */
export class MadeOrg extends OperatedOrg {
  /** First admin of the organization. */
  @ApiProperty()
  @IsObjectOf(() => MemberItem)
  admin: MemberItem;

  /** Admin key of the live environment. Returned only in this response. */
  @ApiProperty({ example: 'ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR' })
  @IsString()
  key: string;

  /** Admin key of the test environment. Returned only in this response. */
  @ApiProperty({ example: 'ek_test_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR' })
  @IsString()
  test_key: string;
}

/** One page of organizations, newest first. */
export class OrgPage {
  /** The organizations of this page, including removed ones. */
  @IsArrayOf(() => OperatedOrg)
  data: OperatedOrg[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** Parses the organization id in a path. Throws 404 if the text cannot be an organization id. */
export function orgId(text: string): Id {
  const id = parseId('org', text);
  if (id === null) throw noSuch('organization');
  return id;
}

/** Returns the organization to create. Throws 422 if `email` is not an email address. */
export function newOrganization({ slug, name, admin }: NewOrgBody): NewOrganization {
  return { slug, name, admin: newMember({ ...admin, role: 'admin' }) };
}

export function presentOrg(row: OrgRow): OperatedOrg {
  return {
    id: showId('org', row.id),
    slug: row.slug,
    name: row.name,
    created_at: row.created_at.toISOString(),
    removed_at: row.removed_at?.toISOString() ?? null,
    erased_at: row.erased_at?.toISOString() ?? null,
  };
}

export function presentMadeOrg({ organization, admin, keys }: MadeOrganization): MadeOrg {
  return { ...presentOrg(organization), admin: presentMember(admin), key: keys.live, test_key: keys.test };
}
