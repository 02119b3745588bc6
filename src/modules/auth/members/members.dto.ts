import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Length, Max, MaxLength, Min } from 'class-validator';
import { parseMailbox } from '#engine/mail/addresses.js';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import { invalid, noSuch } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import { type Scope, SCOPES } from '#kernel/tenant.js';
import type { NewMember } from './members.service.js';
import type { MemberRow } from './members.store.js';

/** Pagination parameters of the member list. */
export class MemberListQuery {
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

/** The member to add. */
@Examples({
  writer: {
    summary: 'A member who sends and configures',
    value: { email: 'ada@example.com', name: 'Ada', role: 'write' },
  },
  admin: { summary: 'Another administrator', value: { email: 'grace@example.com', role: 'admin' } },
})
export class NewMemberBody {
  /**
   * Email address that receives sign-in codes and by which the identity provider identifies the member. Compared in
   * lower case.
   */
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

  /** Role of the member, in both environments. Each role includes the roles listed before it. */
  @ApiProperty({ example: 'write' })
  @IsIn(SCOPES)
  role: Scope;
}

/** Changes to a member. Omitted fields keep their value. */
@Fixed({ email: 'cannot be changed: remove the member and add the new address' })
@Examples({
  name: { summary: 'Change the name', value: { name: 'Ada Lovelace' } },
  admin: { summary: 'Make the member an administrator', value: { role: 'admin' } },
})
export class MemberChangesBody {
  /** Display name of the member. */
  @ApiProperty({ example: 'Ada' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 200)
  name?: string;

  /** New role of the member. Open sessions get the new role within five seconds. */
  @ApiProperty({ example: 'admin' })
  @CanBeOmitted()
  @IsIn(SCOPES)
  role?: Scope;
}

/** One member of the organization. */
export class MemberItem {
  /** Id of the member. */
  @ApiProperty({ example: 'mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Email address in lower case. */
  @ApiProperty({ example: 'ada@example.com' })
  @IsString()
  email: string;

  /** Display name of the member. */
  @ApiProperty({ example: 'Ada' })
  @IsString()
  name: string;

  /** Role of the member. */
  @ApiProperty({ example: 'write' })
  @IsIn(SCOPES)
  role: Scope;

  /** Time at which the member was added. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the member's last sign-in. `null` if the member has never signed in. */
  @ApiProperty({ example: '2026-11-21T10:02:11.402Z' })
  @CanBeNull()
  @IsDateTime()
  last_signed_in_at: string | null;
}

/** One page of members, newest first. */
export class MemberPage {
  /** The members of this page. */
  @IsArrayOf(() => MemberItem)
  data: MemberItem[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** Parses the member id in a path. Throws 404 if the text cannot be a member id. */
export function memberId(text: string): Id {
  const id = parseId('mbr', text);
  if (id === null) throw noSuch('member');
  return id;
}

/** Returns the member to add. Throws 422 if `email` is not an email address. */
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
    created_at: row.createdAt.toISOString(),
    last_signed_in_at: row.lastSignedInAt?.toISOString() ?? null,
  };
}
