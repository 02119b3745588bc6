import { ApiProperty } from '@nestjs/swagger';
import { parseMailbox } from '#engine/mail/addresses.js';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { invalid, notFound } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import { type Scope, SCOPES } from '#kernel/tenant.js';
import type { NewMember } from './members.service.js';
import type { MemberRow } from './members.store.js';

/** Where in the list of members. */
export class MemberListQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** Somebody who is to sign in to this organization. */
@Examples({
  writer: {
    summary: 'Somebody who sends and configures',
    value: { email: 'ada@example.com', name: 'Ada', role: 'write' },
  },
  admin: { summary: 'Another administrator', value: { email: 'grace@example.com', role: 'admin' } },
})
export class NewMemberBody {
  /** The address that codes are mailed to, and that the identity provider knows the person by; compared in lower case. */
  @ApiProperty({ minLength: 3, maxLength: 254, example: 'ada@example.com' })
  email: string;

  /** What people know the person by; the address when left out. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, example: 'Ada' })
  name?: string;

  /** What the member may do, in both environments; each role includes the ones before it. */
  @ApiProperty({ enum: SCOPES, example: 'write' })
  role: Scope;
}

/** What to change of a member; what is left out stays. */
@Fixed({ email: 'cannot be changed: remove the member and add the new address' })
@Examples({
  name: { summary: 'Another name', value: { name: 'Ada Lovelace' } },
  admin: { summary: 'Make the member an administrator', value: { role: 'admin' } },
})
export class MemberChangesBody {
  /** What people know the person by. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, example: 'Ada' })
  name?: string;

  /** What the member may do from now on; it counts for open sessions within five seconds. */
  @ApiProperty({ required: false, enum: SCOPES, example: 'admin' })
  role?: Scope;
}

/** One member of the organization. */
export class MemberItem {
  /** The member's id. */
  @ApiProperty({ example: 'mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The address, in lower case. */
  @ApiProperty({ example: 'ada@example.com' })
  email: string;

  /** What people know the person by. */
  @ApiProperty({ example: 'Ada' })
  name: string;

  /** What the member may do. */
  @ApiProperty({ enum: SCOPES, example: 'write' })
  role: Scope;

  /** When the member was added. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When the member last signed in; null before the first time. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T10:02:11.402Z' })
  last_signed_in_at: string | null;
}

/** One page of members, newest first. */
export class MemberPage {
  /** The members of this page. */
  @ApiProperty({ type: [MemberItem] })
  data: MemberItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** The member that a path names. Throws 404 for what can't be one. */
export function memberId(text: string): Id {
  const id = parseId('mbr', text);
  if (id === null) throw notFound('member');
  return id;
}

/** Throws 422 for what is no address. */
export function newMember({ email, name, role }: NewMemberBody): NewMember {
  const mailbox = parseMailbox(email.trim());
  if ('refusal' in mailbox) throw invalid([{ path: 'email', message: mailbox.refusal }]);
  if (mailbox.name !== '')
    throw invalid([{ path: 'email', message: 'must be an address alone, such as ada@example.com' }]);
  const address = mailbox.address.toLowerCase();
  return { email: address, name: name ?? address, role };
}

export function presentMember(row: MemberRow): MemberItem {
  return {
    id: showId('mbr', row.id),
    email: row.email,
    name: row.name,
    role: row.role,
    created_at: row.created_at.toISOString(),
    last_signed_in_at: row.last_signed_in_at?.toISOString() ?? null,
  };
}
