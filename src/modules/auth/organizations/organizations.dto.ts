import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { notFound } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import { MemberItem, newMember, presentMember } from '../members/members.dto.js';
import type { MadeOrganization, NewOrganization } from './organizations.service.js';
import type { OrgRow } from './organizations.store.js';

/** Where in the list of organizations. */
export class OrgListQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** Somebody who is to be an organization's first admin. */
export class FirstAdminBody {
  /** The address that codes are mailed to. */
  @ApiProperty({ minLength: 3, maxLength: 254, example: 'ada@example.com' })
  email: string;

  /** What people know the person by; the address when left out. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, example: 'Ada' })
  name?: string;
}

/** An organization that is to be made. */
@Examples({
  acme: {
    summary: 'An organization with its first admin',
    value: { slug: 'acme', name: 'Acme', admin: { email: 'ada@example.com', name: 'Ada' } },
  },
})
export class NewOrgBody {
  /** Its part of receive URLs: lower-case letters, digits and `-`. */
  @ApiProperty({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$', example: 'acme' })
  slug: string;

  /** What people know it by. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'Acme' })
  name: string;

  /** Its first admin. */
  admin: FirstAdminBody;
}

/** An organization, as the operator sees it. */
export class OperatedOrg {
  /** The organization's id. */
  @ApiProperty({ example: 'org_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Its part of receive URLs; `removed-…` once it is removed. */
  @ApiProperty({ example: 'acme' })
  slug: string;

  /** What people know it by. */
  @ApiProperty({ example: 'Acme' })
  name: string;

  /** When it was made. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** From when on nobody came in; null while it is there. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  removed_at: string | null;

  /** When what it configured was gone; null before. What it accepted goes with its retention. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  erased_at: string | null;
}

/** An organization that was just made, with its first keys. */
export class MadeOrg extends OperatedOrg {
  /** Its first admin. */
  admin: MemberItem;

  /** A live admin key, shown in this answer only. */
  @ApiProperty({ example: 'ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR' })
  key: string;

  /** An admin key of the test environment, shown in this answer only. */
  @ApiProperty({ example: 'ek_test_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR' })
  test_key: string;
}

/** One page of organizations, newest first. */
export class OrgPage {
  /** The organizations of this page, removed ones included. */
  @ApiProperty({ type: [OperatedOrg] })
  data: OperatedOrg[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** The organization that a path names. Throws 404 for what can't be one. */
export function orgId(text: string): Id {
  const id = parseId('org', text);
  if (id === null) throw notFound('organization');
  return id;
}

/** Throws 422 for what is no address. */
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
