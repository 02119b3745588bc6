import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import {
  AliasActionsBody,
  AliasAutoReplyItem,
  askedAutoReply,
  ForwardAddressItem,
  presentAutoReply,
} from '../actions/alias-actions.dto.js';
import type { ForwardState } from '../actions/forward-addresses.store.js';
import type { AliasEntity } from '../inbox.entities.js';
import type { NewAlias } from './alias-registration.js';
import type { AliasSettings } from './alias-settings.js';

const KINDS = ['platform', 'custom'] as const;
const DESTINATION = 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const DOMAIN = 'dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const FIXED = 'cannot be changed, since the address is the identity: create another alias';

const FILTER_EXAMPLE = { path: '$.subject', op: 'starts_with', value: 'Invoice' };
const ROUTE_EXAMPLE = { destination: DESTINATION, filter: FILTER_EXAMPLE };

/** A destination for the mail of an alias, with an optional filter. */
export class AliasRouteConfig {
  /** Id of the destination. An alias has at most one route to each destination. */
  @ApiProperty({ example: DESTINATION })
  @IsString()
  @MaxLength(64)
  destination: string;

  /**
   * Condition that selects the mail for this destination by fields of the event. It has the grammar of endpoints' route
   * filters. A condition without `type` has the type `json`. If null or omitted, the destination receives all mail.
   */
  @ApiProperty({ example: FILTER_EXAMPLE })
  @IsOptional()
  @IsObject()
  filter?: Record<string, unknown> | null;
}

/** A destination that receives mail of an alias, with its filter. */
export class AliasRouteItem {
  /** Id of the destination. */
  @ApiProperty({ example: DESTINATION })
  @IsString()
  destination: string;

  /** Condition that selects the mail for this destination. Null if the destination receives all mail. */
  @ApiProperty({ example: FILTER_EXAMPLE })
  @CanBeNull()
  @IsObject()
  filter: Record<string, unknown> | null;
}

/** Paging of the list of aliases. */
export class AliasListQuery {
  /** The `next_cursor` of the previous page. Omit it for the first page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of aliases to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** The alias to create. */
@Examples({
  platform: {
    summary: "An address under the platform's domain",
    value: { kind: 'platform', localPart: 'invoices', destinationIds: [DESTINATION] },
  },
  custom: {
    summary: 'An address of your own domain, for certain senders',
    value: {
      kind: 'custom',
      domainId: DOMAIN,
      localPart: 'support',
      destinationIds: [DESTINATION],
      allowedSenders: ['@example.org'],
    },
  },
  filtered: {
    summary: "Forward only some of the alias's mail",
    value: { kind: 'platform', localPart: 'billing', routes: [ROUTE_EXAMPLE] },
  },
  pattern: {
    summary: 'A pattern: all addresses that begin with "ticket-"',
    value: { kind: 'custom', domainId: DOMAIN, localPart: 'ticket-*', destinationIds: [DESTINATION] },
  },
  forwarded: {
    summary: 'An alias that forwards its mail and replies automatically',
    value: {
      kind: 'custom',
      domainId: DOMAIN,
      localPart: 'help',
      forward_to: ['ops@example.org'],
      auto_reply: { subject: 'We received your message', text: 'Thank you.', once_per: 'P7D' },
    },
  },
  catchAll: {
    summary: 'A catch-all alias for all other mail to the domain',
    value: { kind: 'custom', domainId: DOMAIN, localPart: '*', destinationIds: [DESTINATION] },
  },
})
export class NewAliasBody extends AliasActionsBody {
  /** `platform` for `<localPart>.<slug>@<platform domain>`, `custom` for an address on your own domain. */
  @ApiProperty({ example: 'platform' })
  @IsIn(KINDS)
  kind: (typeof KINDS)[number];

  /** Required for kind `custom`: id of a verified domain of kind `email`. */
  @ApiProperty({ example: DOMAIN })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  domainId?: string;

  /**
   * Local part of the address: letters, digits, `_`, `-` and single dots, at most 64 characters, in any case. The
   * reserved names postmaster, abuse, mailer-daemon and bounces are rejected with 400. Local parts that begin with `b+`
   * are also rejected with 400.
   *
   * On your own domain, the local part may have a tag (`support+eu`), be a pattern (`support*`, or `support+*` for
   * every tag), or be `*` for all other mail. The most specific alias receives the mail: the address with its tag, the
   * address without its tag, the longest pattern, then `*`.
   */
  @ApiProperty({ example: 'invoices' })
  @IsString()
  @MaxLength(256)
  localPart: string;

  /**
   * Destinations that receive the alias's mail as events of type `email.received`. Short form of `routes`. Without
   * destinations, mail is stored as events, but not delivered.
   */
  @ApiProperty({ example: [DESTINATION] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMaxSize(50)
  @IsString({ each: true })
  destinationIds?: string[];

  /**
   * Destinations that receive the alias's mail, each with an optional filter. Mail that matches no filter gets the
   * status `ignored`.
   */
  @ApiProperty({ example: [ROUTE_EXAMPLE] })
  @CanBeOmitted()
  @IsArrayOf(() => AliasRouteConfig)
  @ArrayMaxSize(50)
  routes?: AliasRouteConfig[];

  /**
   * Senders whose mail is accepted: addresses (`a@example.com`), domains (`@example.com`) or subdomains
   * (`*.example.com`). They are compared with the single mailbox of the From header. An empty list accepts every
   * sender.
   */
  @ApiProperty({ example: ['@example.org'] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  allowedSenders?: string[];

  /**
   * Maximum size of a message in bytes. Larger messages are rejected with 552. If null or omitted, the mail server's
   * limit of 40 MB applies.
   */
  @ApiProperty({ example: 10_485_760 })
  @IsOptional()
  @IsInt()
  @Min(1024)
  @Max(41_943_040)
  maxSizeBytes?: number | null;
}

/** The fields of an alias to change. Fields that are left out keep their values. */
@Fixed({ kind: FIXED, domainId: FIXED, domain: FIXED, localPart: FIXED, address: FIXED })
@Examples({
  destinations: { summary: 'Change the destinations', value: { destinationIds: [DESTINATION] } },
  anybody: { summary: 'Accept mail from everyone, of any size', value: { allowedSenders: [], maxSizeBytes: null } },
})
export class AliasChangesBody extends AliasActionsBody {
  /**
   * New list of destinations that receive the alias's mail. Short form of `routes`. Destinations that the alias already
   * has keep their filters.
   */
  @ApiProperty({ example: [DESTINATION] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMaxSize(50)
  @IsString({ each: true })
  destinationIds?: string[];

  /**
   * New list of destinations that receive the alias's mail, each with an optional filter. If a filter is null or
   * omitted, the destination receives all mail.
   */
  @ApiProperty({ example: [ROUTE_EXAMPLE] })
  @CanBeOmitted()
  @IsArrayOf(() => AliasRouteConfig)
  @ArrayMaxSize(50)
  routes?: AliasRouteConfig[];

  /** Senders whose mail is accepted. An empty list accepts every sender. */
  @ApiProperty({ example: ['anna@example.org', '*.example.org'] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  allowedSenders?: string[];

  /**
   * Maximum size of a message in bytes. Larger messages are rejected with 552. If null, the mail server's limit of 40
   * MB applies.
   */
  @ApiProperty({ example: 10_485_760 })
  @IsOptional()
  @IsInt()
  @Min(1024)
  @Max(41_943_040)
  maxSizeBytes?: number | null;
}

/** An address that receives mail. */
export class AliasItem {
  /** Id of the alias. */
  @ApiProperty({ example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Full address, built by Posthorn. */
  @ApiProperty({ example: 'invoices.acme@posthorn.example' })
  @IsString()
  address: string;

  /** `platform` for an address under the platform's domain, `custom` for an address on your own domain. */
  @ApiProperty({ example: 'platform' })
  @IsIn(KINDS)
  kind: (typeof KINDS)[number];

  /** Local part as requested, in lower case. */
  @ApiProperty({ example: 'invoices' })
  @IsString()
  localPart: string;

  /** Part of the address after the `@`. */
  @ApiProperty({ example: 'posthorn.example' })
  @IsString()
  domain: string;

  /** Ids of the destinations that receive the alias's mail. */
  @ApiProperty({ example: [DESTINATION] })
  @IsArray()
  @IsString({ each: true })
  destinationIds: string[];

  /** Destinations that receive the alias's mail, with their filters. */
  @ApiProperty({ example: [ROUTE_EXAMPLE] })
  @IsArrayOf(() => AliasRouteItem)
  routes: AliasRouteItem[];

  /** Senders whose mail is accepted. Empty if every sender is accepted. */
  @ApiProperty({ example: ['@example.org'] })
  @IsArray()
  @IsString({ each: true })
  allowedSenders: string[];

  /** Maximum size of a message in bytes. Null if the mail server's limit of 40 MB applies. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsInt()
  maxSizeBytes: number | null;

  /** Addresses that the alias forwards to, in lower case. */
  @ApiProperty({ example: ['ops@example.org'] })
  @IsArray()
  @IsString({ each: true })
  forward_to: string[];

  /** The addresses of `forward_to`, and whether their owners have confirmed them. */
  @IsArrayOf(() => ForwardAddressItem)
  forward_addresses: ForwardAddressItem[];

  /** Automatic reply to the alias's mail. Null if the alias does not reply automatically. */
  @CanBeNull()
  @IsObjectOf(() => AliasAutoReplyItem)
  auto_reply: AliasAutoReplyItem | null;

  /**
   * Lifetime in seconds of the links in events. With a lifetime, the links work without an API key. With null, they
   * need one.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsInt()
  link_ttl_seconds: number | null;

  /** Time when the alias was created. */
  @ApiProperty({ example: '2026-11-22T09:30:00.000Z' })
  @IsDateTime()
  createdAt: string;
}

/** One page of aliases, newest first. */
export class AliasPage {
  /** The aliases of this page. */
  @IsArrayOf(() => AliasItem)
  data: AliasItem[];

  /** Pass this value as `cursor` to get the next page; null on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

export function newAlias({ kind, domainId = '', localPart, ...settings }: NewAliasBody): NewAlias {
  return { kind, domainId: domainId === '' ? null : domainId, localPart, settings: aliasSettings(settings) };
}

export function aliasSettings({
  destinationIds,
  routes,
  allowedSenders,
  maxSizeBytes,
  forward_to: forwardTo,
  auto_reply: autoReply,
  link_ttl_seconds: linkTtlSeconds,
}: AliasChangesBody): AliasSettings {
  return {
    destinationIds,
    routes: routes?.map(({ destination, filter }) => ({ destination, filter: filter ?? null })),
    allowedSenders,
    maxSizeBytes,
    forwardTo,
    autoReply: autoReply && askedAutoReply(autoReply),
    linkTtlSeconds,
  };
}

export function presentAlias(
  {
    id,
    address,
    kind,
    localPart,
    destinationIds,
    filters,
    allowedSenders,
    maxSizeBytes,
    forwardTo,
    autoReply,
    linkTtlSeconds,
    createdAt,
  }: AliasEntity,
  forwardStates: ReadonlyMap<string, ForwardState>,
): AliasItem {
  return {
    id: showId('al', id),
    address,
    kind,
    localPart,
    domain: address.slice(address.lastIndexOf('@') + 1),
    destinationIds: destinationIds.map((each) => showId('dst', each)),
    routes: destinationIds.map((each) => ({ destination: showId('dst', each), filter: filters[each] ?? null })),
    allowedSenders,
    maxSizeBytes,
    forward_to: forwardTo,
    forward_addresses: forwardTo.map((each) => ({ address: each, status: forwardStates.get(each) ?? 'pending' })),
    auto_reply: presentAutoReply(autoReply),
    link_ttl_seconds: linkTtlSeconds,
    createdAt: createdAt.toISOString(),
  };
}

export function presentAliases(
  { rows, nextCursor }: { rows: AliasEntity[]; nextCursor: string | null },
  forwardStates: ReadonlyMap<string, ForwardState>,
): AliasPage {
  return { data: rows.map((row) => presentAlias(row, forwardStates)), next_cursor: nextCursor };
}
