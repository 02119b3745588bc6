import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { notFound } from '#kernel/errors.js';
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

/** Where in the list of domains. */
export class DomainListQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** The domain to use. */
@Examples({
  sending: { summary: 'Mail that only leaves', value: { domain: 'example.com', kind: 'email-send' } },
  webhook: { summary: 'A host of your own for endpoints', value: { domain: 'hooks.example.com', kind: 'webhook' } },
  email: {
    summary: 'Mail in both directions, though the domain has an MX',
    value: { domain: 'mail.example.com', kind: 'email', acknowledge_mx_conflict: true },
  },
})
export class NewDomainBody {
  /** Its name: at least two labels, in any script, without a scheme or a path. No public suffix, and nothing of the platform's own. */
  @ApiProperty({ minLength: 1, maxLength: 253, example: 'mail.example.com' })
  domain: string;

  /** `webhook` receives requests, `email` sends and receives mail, `email-send` only sends. */
  @ApiProperty({ enum: KINDS, example: 'email-send' })
  kind: (typeof KINDS)[number];

  /** For kind `email`: whether its mail may be taken away from where its MX leads now. Without it that is 409 with `details.mx`. */
  @ApiProperty({ required: false, default: false, example: false })
  acknowledge_mx_conflict?: boolean;
}

/** What to make of a domain. */
@Fixed({ domain: 'cannot be changed: create another domain' })
@Examples({
  receive: { summary: 'Receive mail too', value: { kind: 'email', acknowledge_mx_conflict: true } },
  send: { summary: 'Only send', value: { kind: 'email-send' } },
})
export class DomainChangesBody {
  /** The new kind. A webhook domain has no other. */
  @ApiProperty({ enum: CONVERTIBLE, example: 'email' })
  kind: (typeof CONVERTIBLE)[number];

  /** When it becomes `email`: whether its mail may be taken away from where its MX leads now. */
  @ApiProperty({ required: false, default: false, example: true })
  acknowledge_mx_conflict?: boolean;
}

/** A DNS record to publish, with what was seen of it. */
export class DomainRecordItem {
  /** What it is for. */
  @ApiProperty({ enum: ROLES, example: 'ownership' })
  record: (typeof ROLES)[number];

  /** Its type. */
  @ApiProperty({ enum: TYPES, example: 'TXT' })
  type: (typeof TYPES)[number];

  /** Its whole name, without a dot at its end. */
  @ApiProperty({ example: '_posthorn.mail.example.com' })
  name: string;

  /** What it says. */
  @ApiProperty({ example: 'posthorn-verification=5f2b7c3e9a1d4f6880b1c2d3e4f5a6b7c8d9e0f1' })
  value: string;

  /** Of an MX; null for every other type. */
  @ApiProperty({ type: 'integer', nullable: true, example: null })
  priority: number | null;

  /** For how long others may remember it, in seconds. */
  @ApiProperty({ type: 'integer', example: 3600 })
  ttl: number;

  /** Whether the domain needs it to be verified. */
  @ApiProperty({ example: true })
  required: boolean;

  /** `pending` while nothing is there, `failed` for what is wrong or has gone, `temporary_failure` when name servers did not answer. */
  @ApiProperty({ enum: STATUSES, example: 'pending' })
  status: (typeof STATUSES)[number];

  /** What was seen instead, and what to do; null when it is right, and before the first check. */
  @ApiProperty({
    type: String,
    nullable: true,
    example:
      'There is no TXT record at _posthorn.mail.example.com yet, or name servers still remember that there was none.',
  })
  error: string | null;
}

/** A domain with its records. */
export class DomainDetail {
  /** The domain's id. */
  @ApiProperty({ example: 'dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Its name, in lower case and in its ASCII form. */
  @ApiProperty({ example: 'mail.example.com' })
  domain: string;

  /** What it is for. */
  @ApiProperty({ enum: KINDS, example: 'email-send' })
  kind: (typeof KINDS)[number];

  /** `verified` when every required record was seen, `failed` after 72 hours of answers without one of them. */
  @ApiProperty({ enum: STATES, example: 'pending-dns' })
  state: (typeof STATES)[number];

  /** Whether mail may be sent from it. One that was converted goes on sending while it is `pending-dns`. */
  @ApiProperty({ example: false })
  sending_enabled: boolean;

  /** Whether its mail, or the requests to its host, are taken. */
  @ApiProperty({ example: false })
  receiving_enabled: boolean;

  /** What to publish. */
  @ApiProperty({ type: [DomainRecordItem] })
  records: DomainRecordItem[];

  /** When it was created. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When it was converted or checked last. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  updated_at: string;

  /** When it was last found complete after it had not been; null before the first time. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  verified_at: string | null;
}

/** One page of domains, newest first. */
export class DomainPage {
  /** The domains of this page. */
  @ApiProperty({ type: [DomainDetail] })
  data: DomainDetail[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** The domain that a path names. Throws 404 for what can't be one. */
export function domainId(text: string): Id {
  const id = parseId('dom', text);
  if (id === null) throw notFound('domain');
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
