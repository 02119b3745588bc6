import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Length, Max, MaxLength, Min } from 'class-validator';
import { algorithmIn, DOMAIN_ALGORITHMS, type DomainAlgorithm, hasOwnKeys } from '#engine/mail/domain-keys.js';
import { type Reputation, REPUTATIONS, type ReputationThresholds } from '#engine/mail/domain-reputation.js';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import { invalid, noSuch } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { Conversion } from './domain-changes.js';
import type { DkimChoice } from './domain-dkim.js';
import type { NewDomain } from './domain-registration.js';
import { ThresholdsBody, thresholdsOf } from './domain-reputation.dto.js';
import type { DomainView, RecordView } from './domain-view.js';
import type { DomainDkimKeyEntity } from './domains.entities.js';
import type { DomainViews } from './domains.service.js';

const KINDS = ['webhook', 'email', 'email-send'] as const;
const CONVERTIBLE = ['email', 'email-send'] as const;
const STATES = ['pending-dns', 'verified', 'failed'] as const;
const ROLES = ['ownership', 'dkim', 'mail_from', 'spf', 'mx', 'cname', 'dmarc'] as const;
const TYPES = ['TXT', 'CNAME', 'MX'] as const;
const DKIM_MODES = ['platform', 'domain'] as const;
const KEY_ALGORITHMS = ['rsa-2048', 'ed25519'] as const;
const KEY_STATES = ['pending', 'signing', 'retiring'] as const;
const GRACE_SECONDS_MAX = 30 * 86_400;
const STATUSES = ['pending', 'verified', 'failed', 'temporary_failure'] as const;

/** Pagination parameters of the domain list. */
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

/** The keys that sign the mail of a domain. */
export class DkimBody {
  /**
   * `platform`: the operator's key, to which CNAME records of the domain point. `domain`: keys that belong only to this
   * domain, with records that you publish.
   */
  @ApiProperty({ example: 'domain' })
  @IsIn(DKIM_MODES)
  mode: (typeof DKIM_MODES)[number];

  /**
   * Only for mode `domain`. With `rsa-2048+ed25519`, each message has two signatures: receivers that do not support
   * Ed25519 (RFC 8463) verify the RSA signature.
   */
  @ApiProperty({ default: 'rsa-2048', example: 'rsa-2048+ed25519' })
  @IsOptional()
  @IsIn(DOMAIN_ALGORITHMS)
  algorithm?: DomainAlgorithm | null;
}

/** The domain to add. */
@Examples({
  sending: { summary: 'Only send mail', value: { domain: 'example.com', kind: 'email-send' } },
  webhook: {
    summary: 'Use your own host for inbound endpoints',
    value: { domain: 'hooks.example.com', kind: 'webhook' },
  },
  dkim: {
    summary: 'Sign with keys of this domain',
    value: { domain: 'news.example.com', kind: 'email-send', dkim: { mode: 'domain', algorithm: 'rsa-2048+ed25519' } },
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

  /** `webhook` domains receive requests, `email` domains send and receive mail, `email-send` domains only send mail. */
  @ApiProperty({ example: 'email-send' })
  @IsIn(KINDS)
  kind: (typeof KINDS)[number];

  /**
   * Only for kind `email`: confirms that mail for the domain will no longer go to its current mail server. The current
   * server is in the domain's MX records. Without MX records, it is the server at the domain's addresses. If there is
   * such a server and this field is `false`, the response is 409 with `details.mx`.
   */
  @ApiProperty({ default: false, example: false })
  @IsOptional()
  @IsBoolean()
  acknowledge_mx_conflict?: boolean | null;

  /** The keys that sign the domain's mail. Defaults to the platform's key. */
  @IsOptional()
  @IsObjectOf(() => DkimBody)
  dkim?: DkimBody | null;
}

/** The change to a domain: exactly one of `kind`, `dkim` and `thresholds`. */
@Fixed({ domain: 'cannot be changed: create another domain' })
@Examples({
  receive: { summary: 'Also receive mail', value: { kind: 'email', acknowledge_mx_conflict: true } },
  send: { summary: 'Only send mail', value: { kind: 'email-send' } },
  dkim: { summary: 'Sign with keys of this domain', value: { dkim: { mode: 'domain' } } },
  thresholds: { summary: 'Pause the domain later', value: { thresholds: { bounce_rate_pause: 0.15 } } },
})
export class DomainChangesBody {
  /** The new kind of the domain. A webhook domain cannot be converted. */
  @ApiProperty({ example: 'email' })
  @CanBeOmitted()
  @IsIn(CONVERTIBLE)
  kind?: (typeof CONVERTIBLE)[number];

  /**
   * Only for a conversion to `email`: confirms that mail for the domain will no longer go to its current mail server.
   * The current server is in the domain's MX records. Without MX records, it is the server at the domain's addresses.
   */
  @ApiProperty({ default: false, example: true })
  @IsOptional()
  @IsBoolean()
  acknowledge_mx_conflict?: boolean | null;

  /**
   * The keys that sign the domain's mail. The domain's own keys sign once their records are found. The platform's key
   * signs immediately if its records are published.
   */
  @CanBeOmitted()
  @IsObjectOf(() => DkimBody)
  dkim?: DkimBody;

  /**
   * Limits for the bounce and complaint rates of the last 24 hours. An omitted limit is reset to its default. Null
   * resets all limits to their defaults.
   */
  @IsOptional()
  @IsObjectOf(() => ThresholdsBody)
  thresholds?: ThresholdsBody | null;
}

/** Options for the rotation of DKIM keys. */
export class DkimRotationBody {
  /**
   * Time in seconds for which the record of the previous key must stay published after the new key starts to sign. Mail
   * that was signed with the previous key can be in transit for about six days.
   */
  @ApiProperty({ default: 604800, example: 604800 })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(GRACE_SECONDS_MAX)
  grace_seconds?: number | null;
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

  /** `true` if Posthorn must find this record before it verifies the domain. */
  @ApiProperty({ example: true })
  @IsBoolean()
  required: boolean;

  /**
   * Result of the last check: `pending` if the record was not found, `failed` if the record is wrong or was removed,
   * `temporary_failure` if the name servers did not respond.
   */
  @ApiProperty({ example: 'pending' })
  @IsIn(STATUSES)
  status: (typeof STATUSES)[number];

  /**
   * The value found instead of `value`, and how to correct it. Null if the record is correct, and before the first
   * check.
   */
  @ApiProperty({
    example:
      'There is no TXT record at _posthorn.mail.example.com yet, or name servers still remember that there was none.',
  })
  @CanBeNull()
  @IsString()
  error: string | null;
}

/** A DKIM key of a domain. */
export class DkimKeyItem {
  /** Selector of the key's record, whose name is `<selector>._domainkey.<domain>`. */
  @ApiProperty({ example: 'phr1' })
  @IsString()
  selector: string;

  /** Algorithm of the key. */
  @ApiProperty({ example: 'rsa-2048' })
  @IsIn(KEY_ALGORITHMS)
  algorithm: (typeof KEY_ALGORITHMS)[number];

  /**
   * `pending`: the key signs once its record is found. `signing`: the key signs all mail. `retiring`: the key no longer
   * signs, but its record must stay published until `required_until`.
   */
  @ApiProperty({ example: 'signing' })
  @IsIn(KEY_STATES)
  state: (typeof KEY_STATES)[number];

  /** Time when the key was generated. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time after which the record of a retiring key can be removed. Null in the other states. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  required_until: string | null;
}

/** The keys that sign the mail of a domain. */
export class DkimItem {
  /** `domain` if the domain's own keys sign, or will sign once their records are found. `platform` otherwise. */
  @ApiProperty({ example: 'platform' })
  @IsIn(DKIM_MODES)
  mode: (typeof DKIM_MODES)[number];

  /** Algorithms of the keys that sign each message, or that will sign once their records are found. */
  @ApiProperty({ example: 'rsa-2048' })
  @IsIn(DOMAIN_ALGORITHMS)
  algorithm: DomainAlgorithm;

  /** The domain's own keys. Empty if only the platform's key signs. */
  @IsArrayOf(() => DkimKeyItem)
  keys: DkimKeyItem[];
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
   * `verified` once every required record was found. `failed` if required records were missing or wrong for 72 hours in
   * which the name servers responded.
   */
  @ApiProperty({ example: 'pending-dns' })
  @IsIn(STATES)
  state: (typeof STATES)[number];

  /**
   * `true` if mail may be sent from the domain. A converted domain continues to send while it is `pending-dns`. `false`
   * while the domain is paused.
   */
  @ApiProperty({ example: false })
  @IsBoolean()
  sending_enabled: boolean;

  /** `true` if Posthorn accepts mail to this domain (for a webhook domain: requests to this host). */
  @ApiProperty({ example: false })
  @IsBoolean()
  receiving_enabled: boolean;

  /**
   * `at_risk` if the bounce or complaint rate reached its warning limit. `paused` if the rate reached its pause limit:
   * new emails from the domain are rejected with 422, and emails that were already accepted wait until the domain is
   * resumed.
   */
  @ApiProperty({ example: 'healthy' })
  @IsIn(REPUTATIONS)
  reputation: Reputation;

  /** The keys that sign the domain's mail. Null for a webhook domain. */
  @CanBeNull()
  @IsObjectOf(() => DkimItem)
  dkim: DkimItem | null;

  /** DNS records to publish. */
  @IsArrayOf(() => DomainRecordItem)
  records: DomainRecordItem[];

  /** Time when the domain was created. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the domain's last check or change. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  updated_at: string;

  /** Time at which the domain last became `verified`. Null if it was never verified. */
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

  /** Pass this value as `cursor` to get the next page. Null on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** Parses the domain id in a path. Throws 404 if the text cannot be a domain id. */
export function domainId(text: string): Id {
  const id = parseId('dom', text);
  if (id === null) throw noSuch('domain');
  return id;
}

export function newDomain({ domain, kind, acknowledge_mx_conflict: acknowledged, dkim }: NewDomainBody): NewDomain {
  return { domain, kind, isMxAcknowledged: acknowledged ?? false, dkim: dkimChoice(dkim ?? { mode: 'platform' }) };
}

/** Returns the change that a body requests. Throws 422 unless the body contains exactly one change. */
export function domainChange({
  kind,
  acknowledge_mx_conflict: acknowledged,
  dkim,
  thresholds,
}: DomainChangesBody): { conversion: Conversion } | { dkim: DkimChoice } | { thresholds: ReputationThresholds | null } {
  const [first, second] = Object.entries({ kind, dkim, thresholds }).filter(([, value]) => value !== undefined);
  if (second !== undefined)
    throw invalid([{ path: second[0], message: `cannot be changed in the same request as ${first?.[0]}` }]);
  if (dkim !== undefined) return { dkim: dkimChoice(dkim) };
  if (thresholds !== undefined) return { thresholds: thresholds && thresholdsOf(thresholds) };
  if (kind === undefined) throw invalid([{ path: 'kind', message: 'is required, unless dkim or thresholds is given' }]);
  return { conversion: { kind, isMxAcknowledged: acknowledged ?? false } };
}

function dkimChoice({ mode, algorithm }: DkimBody): DkimChoice {
  if (mode === 'platform' && (algorithm ?? 'rsa-2048') !== 'rsa-2048')
    throw invalid([{ path: 'dkim.algorithm', message: "must be rsa-2048 for the platform's key" }]);
  return { mode, algorithm: algorithm ?? 'rsa-2048' };
}

export function presentDomain({ row, keys, records }: DomainView): DomainDetail {
  return {
    id: showId('dom', row.id),
    domain: row.host,
    kind: row.kind,
    state: row.state,
    sending_enabled: row.isSending && row.reputation !== 'paused',
    receiving_enabled: row.isReceiving,
    reputation: row.reputation,
    dkim: row.kind === 'webhook' ? null : presentDkim(keys),
    records: records.map(presentRecord),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    verified_at: row.verifiedAt?.toISOString() ?? null,
  };
}

function presentDkim(keys: readonly DomainDkimKeyEntity[]): DkimItem {
  return {
    mode: hasOwnKeys(keys) ? 'domain' : 'platform',
    algorithm: algorithmIn(keys),
    keys: keys.map(({ selector, algorithm, state, createdAt, requiredUntil }) => ({
      selector,
      algorithm,
      state,
      created_at: createdAt.toISOString(),
      required_until: requiredUntil?.toISOString() ?? null,
    })),
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
