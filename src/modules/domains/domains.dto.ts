import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsString, Length, Max, MaxLength, Min } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { Conversion } from './domain-changes.js';
import type { NewDomain } from './domain-registration.js';
import type { DomainView, RecordView } from './domain-view.js';
import type { DomainViews } from './domains.service.js';

const KINDS = ['webhook', 'email', 'email-send'] as const;
const CONVERTIBLE = ['email', 'email-send'] as const;
const STATES = ['pending-dns', 'verified', 'failed'] as const;
const ROLES = ['ownership', 'dkim', 'mail_from', 'spf', 'mx', 'cname', 'dmarc'] as const;
const TYPES = ['TXT', 'CNAME', 'MX'] as const;
const STATUSES = ['pending', 'verified', 'failed', 'temporary_failure'] as const;

/** Paging of the list of domains. */
export class DomainListQuery {
  /** The `next_cursor` of the previous page. Omit it for the first page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of domains to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** The domain to add. */
@Examples({
  sending: { summary: 'Only send mail', value: { domain: 'example.com', kind: 'email-send' } },
  webhook: {
    summary: 'Use your own host for inbound endpoints',
    value: { domain: 'hooks.example.com', kind: 'webhook' },
  },
  email: {
    summary: 'Send and receive mail, although the domain already has an MX record',
    value: { domain: 'mail.example.com', kind: 'email', acknowledge_mx_conflict: true },
  },
})
export class NewDomainBody {
  /**
   * Name of the domain: at least two labels, in any script, without a scheme or a path. Public suffixes and names under
   * the platform's domain are not allowed.
   */
  @ApiProperty({ example: 'mail.example.com' })
  @IsString()
  @Length(1, 253)
  domain: string;

  /** `webhook` receives requests, `email` sends and receives mail, `email-send` only sends. */
  @ApiProperty({ example: 'email-send' })
  @IsIn(KINDS)
  kind: (typeof KINDS)[number];

  /**
   * Only for kind `email`: confirms that mail will no longer go to the server in the domain's current MX records. If it
   * is false and such MX records exist, the response is 409 with `details.mx`.
   */
  @ApiProperty({ default: false, example: false })
  @CanBeOmitted()
  @IsBoolean()
  acknowledge_mx_conflict?: boolean;
}

/** The kind to convert a domain to. */
@Fixed({ domain: 'cannot be changed: create another domain' })
@Examples({
  receive: { summary: 'Also receive mail', value: { kind: 'email', acknowledge_mx_conflict: true } },
  send: { summary: 'Only send mail', value: { kind: 'email-send' } },
})
export class DomainChangesBody {
  /** The new kind. A webhook domain cannot be converted. */
  @ApiProperty({ example: 'email' })
  @IsIn(CONVERTIBLE)
  kind: (typeof CONVERTIBLE)[number];

  /**
   * Only for a conversion to `email`: confirms that mail will no longer go to the server in the domain's current MX
   * records.
   */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  acknowledge_mx_conflict?: boolean;
}

/** A DNS record to publish, with the result of the last check. */
export class DomainRecordItem {
  /** Purpose of the record. */
  @ApiProperty({ example: 'ownership' })
  @IsIn(ROLES)
  record: (typeof ROLES)[number];

  /** DNS type of the record. */
  @ApiProperty({ example: 'TXT' })
  @IsIn(TYPES)
  type: (typeof TYPES)[number];

  /** Full name of the record, without a trailing dot. */
  @ApiProperty({ example: '_posthorn.mail.example.com' })
  @IsString()
  name: string;

  /** Value to publish in the record. */
  @ApiProperty({ example: 'posthorn-verification=5f2b7c3e9a1d4f6880b1c2d3e4f5a6b7c8d9e0f1' })
  @IsString()
  value: string;

  /** Priority of an MX record. Null for every other type. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsInt()
  priority: number | null;

  /** TTL of the record in seconds. */
  @ApiProperty({ example: 3600 })
  @IsInt()
  ttl: number;

  /** Whether the domain can be verified only if this record is found. */
  @ApiProperty({ example: true })
  @IsBoolean()
  required: boolean;

  /**
   * Result of the last check: `pending` if no record was found, `failed` if the record is wrong or was removed,
   * `temporary_failure` if the name servers did not answer.
   */
  @ApiProperty({ example: 'pending' })
  @IsIn(STATUSES)
  status: (typeof STATUSES)[number];

  /**
   * The value that was found instead, and how to correct it. Null if the record is correct, and before the first check.
   */
  @ApiProperty({
    example:
      'There is no TXT record at _posthorn.mail.example.com yet, or name servers still remember that there was none.',
  })
  @CanBeNull()
  @IsString()
  error: string | null;
}

/** A domain with its DNS records. */
export class DomainDetail {
  /** The domain's id. */
  @ApiProperty({ example: 'dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Name of the domain, in lower case and in its ASCII form (A-labels). */
  @ApiProperty({ example: 'mail.example.com' })
  @IsString()
  domain: string;

  /** Purpose of the domain. */
  @ApiProperty({ example: 'email-send' })
  @IsIn(KINDS)
  kind: (typeof KINDS)[number];

  /**
   * `verified` once every required record was found. `failed` after 72 hours in which name servers answered, but not
   * with every required record.
   */
  @ApiProperty({ example: 'pending-dns' })
  @IsIn(STATES)
  state: (typeof STATES)[number];

  /** Whether mail may be sent from the domain. A converted domain keeps sending while it is `pending-dns`. */
  @ApiProperty({ example: false })
  @IsBoolean()
  sending_enabled: boolean;

  /** Whether Posthorn accepts mail to this domain, or requests to this host for a webhook domain. */
  @ApiProperty({ example: false })
  @IsBoolean()
  receiving_enabled: boolean;

  /** DNS records to publish. */
  @IsArrayOf(() => DomainRecordItem)
  records: DomainRecordItem[];

  /** Time when the domain was created. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the last check, or of the last change of the domain's kind. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  updated_at: string;

  /** Time when all required records were last found after some had been missing. Null if they were never all found. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  verified_at: string | null;
}

/** One page of domains, newest first. */
export class DomainPage {
  /** The domains of this page. */
  @IsArrayOf(() => DomainDetail)
  data: DomainDetail[];

  /** Pass this value as `cursor` to get the next page; null on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** Returns the domain id in a path segment. Throws 404 if the segment cannot be a domain id. */
export function domainId(text: string): Id {
  const id = parseId('dom', text);
  if (id === null) throw noSuch('domain');
  return id;
}

export function newDomain({ domain, kind, acknowledge_mx_conflict = false }: NewDomainBody): NewDomain {
  return { domain, kind, isMxAcknowledged: acknowledge_mx_conflict };
}

export function conversion({ kind, acknowledge_mx_conflict = false }: DomainChangesBody): Conversion {
  return { kind, isMxAcknowledged: acknowledge_mx_conflict };
}

export function presentDomain({ row, records }: DomainView): DomainDetail {
  return {
    id: showId('dom', row.id),
    domain: row.host,
    kind: row.kind,
    state: row.state,
    sending_enabled: row.isSending,
    receiving_enabled: row.isReceiving,
    records: records.map(presentRecord),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    verified_at: row.verifiedAt?.toISOString() ?? null,
  };
}

export function presentPage({ views, nextCursor }: DomainViews): DomainPage {
  return { data: views.map(presentDomain), next_cursor: nextCursor };
}

function presentRecord({
  record,
  type,
  name,
  value,
  priority,
  ttl,
  required,
  status,
  error,
}: RecordView): DomainRecordItem {
  return { record, type, name, value, priority, ttl, required, status, error };
}
