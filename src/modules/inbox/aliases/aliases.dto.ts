import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { showId } from '#kernel/ids.js';
import type { AliasEntity } from '../inbox.entities.js';
import type { NewAlias } from './alias-registration.js';
import type { AliasSettings } from './alias-settings.js';

const KINDS = ['platform', 'custom'] as const;
const DESTINATION = 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const DOMAIN = 'dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const FIXED = 'cannot be changed, since the address is the identity: create another alias';

const FILTER_EXAMPLE = { path: '$.subject', op: 'starts_with', value: 'Invoice' };
const ROUTE_EXAMPLE = { destination: DESTINATION, filter: FILTER_EXAMPLE };

/** Where mail of an alias is to go. */
export class AliasRouteConfig {
  /** The destination; an alias has at most one route to each. */
  @ApiProperty({ maxLength: 64, example: DESTINATION })
  destination: string;

  /** Which of its mail: a condition on the fields of the event, in the grammar of endpoints' route filters (a leaf without `type` is `json`); null for all. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true, nullable: true, example: FILTER_EXAMPLE })
  filter?: Record<string, unknown> | null;
}

/** Where mail of an alias goes, and which of it. */
export class AliasRouteItem {
  /** The destination. */
  @ApiProperty({ example: DESTINATION })
  destination: string;

  /** Which of its mail; null for all. */
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: FILTER_EXAMPLE })
  filter: Record<string, unknown> | null;
}

/** Where in the list of aliases. */
export class AliasListQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** The alias to make. */
@Examples({
  platform: {
    summary: "An address under the platform's domain",
    value: { kind: 'platform', localPart: 'invoices', destinationIds: [DESTINATION] },
  },
  custom: {
    summary: 'An address of a domain of yours, for some senders',
    value: {
      kind: 'custom',
      domainId: DOMAIN,
      localPart: 'support',
      destinationIds: [DESTINATION],
      allowedSenders: ['@example.org'],
    },
  },
  filtered: {
    summary: 'Only some of its mail',
    value: { kind: 'platform', localPart: 'billing', routes: [ROUTE_EXAMPLE] },
  },
  catchAll: {
    summary: 'Everything else that comes to the domain',
    value: { kind: 'custom', domainId: DOMAIN, localPart: '*', destinationIds: [DESTINATION] },
  },
})
export class NewAliasBody {
  /** `platform` for `<localPart>.<slug>@<platform domain>`, `custom` for a domain of yours. */
  @ApiProperty({ enum: KINDS, example: 'platform' })
  kind: (typeof KINDS)[number];

  /** Of a custom alias: a verified domain of kind `email`. */
  @ApiProperty({ required: false, maxLength: 64, example: DOMAIN })
  domainId?: string;

  /** Letters, digits, `_`, `-` and single dots, at most 64, in any case; or `*` for what no other alias of the domain takes. Names that mail servers use themselves (postmaster, abuse, mailer-daemon, bounces) are 400. */
  @ApiProperty({ maxLength: 256, example: 'invoices' })
  localPart: string;

  /** Where its mail goes, as events of type `email.received`: the short form of `routes`. None keeps it without sending it on. */
  @ApiProperty({ required: false, type: [String], maxItems: 50, example: [DESTINATION] })
  destinationIds?: string[];

  /** Where its mail goes, and which of it: mail that passes no filter is `ignored`. */
  @ApiProperty({ required: false, type: [AliasRouteConfig], maxItems: 50, example: [ROUTE_EXAMPLE] })
  routes?: AliasRouteConfig[];

  /** Who may write: addresses (`a@example.com`), domains (`@example.com`), or what is below one (`*.example.com`), matched on the one mailbox of the From header. None lets everybody. */
  @ApiProperty({ required: false, type: [String], maxItems: 100, example: ['@example.org'] })
  allowedSenders?: string[];

  /** Larger messages are refused with 552. Null, or left out, for what the listener takes at most, 40 MB. */
  @ApiProperty({
    required: false,
    type: 'integer',
    nullable: true,
    minimum: 1024,
    maximum: 41_943_040,
    example: 10_485_760,
  })
  maxSizeBytes?: number | null;
}

/** What to change of an alias: what is left out stays. */
@Fixed({ kind: FIXED, domainId: FIXED, domain: FIXED, localPart: FIXED, address: FIXED })
@Examples({
  destinations: { summary: 'Other destinations', value: { destinationIds: [DESTINATION] } },
  anybody: { summary: 'Take mail from everybody, of any size', value: { allowedSenders: [], maxSizeBytes: null } },
})
export class AliasChangesBody {
  /** Where its mail goes from now on: the short form of `routes`, which keeps the filters of destinations that stay. */
  @ApiProperty({ required: false, type: [String], maxItems: 50, example: [DESTINATION] })
  destinationIds?: string[];

  /** Where its mail goes from now on, and which of it; a filter that is left out, or null, lets everything through. */
  @ApiProperty({ required: false, type: [AliasRouteConfig], maxItems: 50, example: [ROUTE_EXAMPLE] })
  routes?: AliasRouteConfig[];

  /** Who may write. */
  @ApiProperty({ required: false, type: [String], maxItems: 100, example: ['anna@example.org', '*.example.org'] })
  allowedSenders?: string[];

  /** Larger messages are refused with 552; null for what the listener takes at most. */
  @ApiProperty({
    required: false,
    type: 'integer',
    nullable: true,
    minimum: 1024,
    maximum: 41_943_040,
    example: 10_485_760,
  })
  maxSizeBytes?: number | null;
}

/** An address that receives mail. */
export class AliasItem {
  /** Its id. */
  @ApiProperty({ example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The whole address, which the service computed. */
  @ApiProperty({ example: 'invoices.acme@posthorn.example' })
  address: string;

  /** Under which domain it is. */
  @ApiProperty({ enum: KINDS, example: 'platform' })
  kind: (typeof KINDS)[number];

  /** As it was asked for, in lower case. */
  @ApiProperty({ example: 'invoices' })
  localPart: string;

  /** What is behind the `@`. */
  @ApiProperty({ example: 'posthorn.example' })
  domain: string;

  /** Where its mail goes. */
  @ApiProperty({ type: [String], example: [DESTINATION] })
  destinationIds: string[];

  /** Where its mail goes, and which of it. */
  @ApiProperty({ type: [AliasRouteItem], example: [ROUTE_EXAMPLE] })
  routes: AliasRouteItem[];

  /** Who may write; empty for everybody. */
  @ApiProperty({ type: [String], example: ['@example.org'] })
  allowedSenders: string[];

  /** Null for what the listener takes at most. */
  @ApiProperty({ type: 'integer', nullable: true, example: null })
  maxSizeBytes: number | null;

  /** When it was made. */
  @ApiProperty({ format: 'date-time', example: '2026-11-22T09:30:00.000Z' })
  createdAt: string;
}

/** One page of aliases, newest first. */
export class AliasPage {
  /** The aliases of this page. */
  @ApiProperty({ type: [AliasItem] })
  data: AliasItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
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
}: AliasChangesBody): AliasSettings {
  return {
    destinationIds,
    routes: routes?.map(({ destination, filter }) => ({ destination, filter: filter ?? null })),
    allowedSenders,
    maxSizeBytes,
  };
}

export function presentAlias({
  id,
  address,
  kind,
  localPart,
  destinationIds,
  filters,
  allowedSenders,
  maxSizeBytes,
  createdAt,
}: AliasEntity): AliasItem {
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
    createdAt: createdAt.toISOString(),
  };
}

export function presentAliases({ rows, nextCursor }: { rows: AliasEntity[]; nextCursor: string | null }): AliasPage {
  return { data: rows.map(presentAlias), next_cursor: nextCursor };
}
