import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { RECEIVED_METHODS, type ReceivedMethod } from '#engine/inbound/methods.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import { ListCount, listCount } from '#http/list-count.dto.js';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { PREFIX_LENGTH_MAX } from '#kernel/database/prefix.js';
import { notFound } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { EndpointChangesAsked } from './endpoint-changes.js';
import {
  DeduplicationConfig,
  ResponseConfig,
  ResponseProxyConfig,
  ResponseRules,
  ResponseView,
  TransformConfig,
  VerificationConfig,
  VERIFICATIONS,
} from './endpoint-config.dto.js';
import type { NewEndpoint } from './endpoint-registration.js';
import {
  deduplicationInForce,
  proxyInForce,
  RESPONSE_SECRETS,
  type SettingsChanges,
  transformInForce,
} from './endpoint-settings.js';
import type { EndpointListing, EndpointListings, EndpointView } from './endpoints.service.js';
import { IngestDomainItem, presentDomain } from './ingest-domains.dto.js';
import { askedRoute, presentRoute, RouteConfig, RouteItem } from './routes.dto.js';

const STATUSES = ['active', 'paused', 'disabled'] as const;
const ROUTES_MAX = 100;
const METHODS = {
  type: 'array',
  items: { type: 'string', enum: [...RECEIVED_METHODS] as string[] },
  uniqueItems: true,
  nullable: true,
  example: ['POST'],
} satisfies ApiPropertyOptions;
const DESTINATIONS = {
  type: 'array',
  items: { type: 'string', maxLength: 64 },
  maxItems: ROUTES_MAX,
  example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
} as const;

/** Filters of the endpoints list. */
export class EndpointListQuery {
  /** Only endpoints with this status. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'active' })
  status?: (typeof STATUSES)[number];

  /** Only endpoints of this provider. */
  @ApiProperty({ required: false, maxLength: 64, example: 'stripe' })
  preset?: string;

  /** Only endpoints whose name or slug begins with this, whatever the case. */
  @ApiProperty({ required: false, minLength: 1, maxLength: PREFIX_LENGTH_MAX, example: 'stri' })
  search?: string;

  /** True to say beside the page how many match the filters, up to 1,000. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: true })
  count?: boolean;

  /** Where to go on: the `next_cursor` of the page before, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** The settings of an endpoint that may be given when it is created and changed later; null clears one. */
export class EndpointSettingsBody {
  /** What people know it by; the part of the path behind the organization's slug when left out. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, example: 'Stripe payments' })
  name?: string;

  /** The provider: its signature scheme and its handshake. */
  @ApiProperty({ required: false, type: String, maxLength: 64, nullable: true, example: 'stripe' })
  preset?: string | null;

  /** Where events go, all of them: the short form of `routes`, which keeps the filters of destinations that stay. */
  @ApiProperty({ required: false, ...DESTINATIONS })
  destinations?: string[];

  /** Where events go, and which of them; all routes that the endpoint is to have. */
  @ApiProperty({ required: false, type: [RouteConfig], maxItems: ROUTES_MAX })
  routes?: RouteConfig[];

  /** Synchronous answers by rules. */
  @ApiProperty({ required: false, type: ResponseRules, nullable: true })
  responseRules?: ResponseRules | null;

  /** Whom to ask for the synchronous answer. */
  @ApiProperty({ required: false, type: ResponseProxyConfig, nullable: true })
  responseProxy?: ResponseProxyConfig | null;

  /** What changes events before they are routed. */
  @ApiProperty({ required: false, type: TransformConfig, nullable: true })
  transform?: TransformConfig | null;

  /** How it answers; the preset's way when left out. Secrets that a change of the same type leaves out stay. */
  @ApiProperty({ required: false, type: ResponseConfig, nullable: true })
  response?: ResponseConfig | null;

  /**
   * How requests are verified: `preset` (or its name), `none`, an HMAC (`hmac-sha256`, …), a public key (`rsa-sha256`, `ed25519`), `jwt`,
   * `bearer`, `basic` or `api-key`; `preset` when left out beside a preset, else `none`.
   */
  @ApiProperty({ required: false, type: String, maxLength: 64, nullable: true, example: 'hmac-sha256' })
  verification?: string | null;

  /** How the sender proves itself, for what needs no preset. `jwt` needs it. */
  @ApiProperty({ required: false, type: VerificationConfig, nullable: true })
  verificationConfig?: VerificationConfig | null;

  /**
   * The HTTP methods that it takes; any when left out, null or empty. Others are answered 405 and nothing is kept of them. Handshakes
   * are requests like others: a provider that asks with GET or HEAD before it saves the URL needs them here.
   */
  @ApiProperty({ required: false, ...METHODS })
  allowed_methods?: ReceivedMethod[] | null;

  /**
   * Drops what a provider sends again: a request whose id came before within the window is answered as the first one was, makes no
   * event, and is kept as a raw request with the status `duplicate`. Nothing is dropped when left out.
   */
  @ApiProperty({ required: false, type: DeduplicationConfig, nullable: true })
  deduplicate?: DeduplicationConfig | null;

  /** `paused` goes on answering, and parks what comes; a new endpoint is `active` when it is left out. */
  @ApiProperty({ required: false, enum: ['active', 'paused'], example: 'active' })
  status?: 'active' | 'paused';
}

/** The endpoint to create: `url`, `slug` or `path` says where, and those that are given must agree. */
@Examples({
  plain: { summary: 'A URL that takes everything', value: { slug: 'orders' } },
  preset: {
    summary: "A provider's webhooks, verified, to a destination",
    value: { slug: 'stripe', preset: 'stripe', destinations: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] },
  },
  filter: {
    summary: 'Only some of the events to a destination',
    value: {
      slug: 'paid',
      routes: [
        { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', filter: { path: '$.type', op: 'eq', value: 'invoice.paid' } },
      ],
    },
  },
  paused: { summary: 'One that parks what comes at first', value: { slug: 'later', status: 'paused' } },
})
export class NewEndpointBody extends EndpointSettingsBody {
  /** Its URL on an ingest domain. On the platform's host `/in` and the organization's slug may be left out; on a domain of yours it is the host and the path. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    nullable: true,
    example: 'https://hooks.example.com/in/acme/stripe',
  })
  url?: string | null;

  /** The one segment of its path behind the organization's slug: lower-case letters, digits, - and _. */
  @ApiProperty({ required: false, type: String, maxLength: 64, nullable: true, example: 'stripe' })
  slug?: string | null;

  /** Its path; the organization's slug may be left out. */
  @ApiProperty({ required: false, type: String, maxLength: 1024, nullable: true, example: 'acme/stripe' })
  path?: string | null;

  /** The ingest domain: the platform's, or a verified webhook domain of yours. Left out, the host of `url` says it, or it is the platform's. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 64,
    nullable: true,
    example: 'pdom_00000000000000000000000001',
  })
  domainId?: string | null;
}

/** What to change of an endpoint: what is left out stays, null clears what may be absent. */
@Fixed({
  slug: 'cannot be changed: `url` moves the endpoint',
  path: 'cannot be changed: `url` moves the endpoint',
  domainId: 'cannot be changed: `url` moves the endpoint',
})
@Examples({
  methods: { summary: 'Take POST requests only', value: { allowed_methods: ['POST'] } },
  route: { summary: 'Where its events go', value: { destinations: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] } },
  pause: { summary: 'Park what comes', value: { status: 'paused' } },
  activate: { summary: 'Take it again', value: { status: 'active' } },
})
export class EndpointChangesBody extends EndpointSettingsBody {
  /** Where it moves to; the old URL stops serving it at once. Without a path it moves to the organization's slug alone. */
  @ApiProperty({ required: false, maxLength: 2048, example: 'https://hooks.example.com/in/acme/payments' })
  url?: string;
}

/** The provider's secret. */
export class EndpointSecretBody {
  /** What the provider signs with, as its console shows it; stored encrypted and never returned. */
  @ApiProperty({
    minLength: 1,
    maxLength: 4096,
    pattern: '^[^\\x00-\\x1f\\x7f]*$',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  })
  secret: string;

  /** How long the secrets before go on verifying, in seconds. */
  @ApiProperty({ required: false, type: 'integer', minimum: 0, maximum: 604_800, default: 86_400, example: 86_400 })
  grace_seconds?: number;
}

/** An endpoint in a list. */
export class EndpointItem {
  /** The endpoint's id. */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Its path: on the platform's host the organization's slug first; empty at the root of a domain of yours. */
  @ApiProperty({ example: 'acme/stripe' })
  path: string;

  /** What people know it by. */
  @ApiProperty({ example: 'Stripe payments' })
  name: string;

  /** The provider; null without one. */
  @ApiProperty({ type: String, nullable: true, example: 'stripe' })
  preset: string | null;

  /** The URL to give to the provider. */
  @ApiProperty({ example: 'https://hooks.example.com/in/acme/stripe' })
  url: string;

  /** The ingest domain of the URL. */
  @ApiProperty({ type: IngestDomainItem })
  domain: IngestDomainItem;

  /** Where its events go. */
  @ApiProperty({ type: [String], example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  destinations: string[];

  /** How signatures are verified. */
  @ApiProperty({ enum: VERIFICATIONS, example: 'preset' })
  verification: string;

  /** `paused` parks what comes; `disabled` was switched off by the service. */
  @ApiProperty({ enum: STATUSES, example: 'active' })
  status: (typeof STATUSES)[number];

  /** Whether the provider's secret was set; it is never shown. */
  @ApiProperty({ example: true })
  has_secret: boolean;

  /** Rises with every change of the settings or the routes. */
  @ApiProperty({ type: 'integer', example: 1 })
  version: number;

  /** When it was created. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When it was changed last, its secret included. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  updated_at: string;
}

/** One page of endpoints, newest first. */
export class EndpointPage {
  /** The endpoints of this page. */
  @ApiProperty({ type: [EndpointItem] })
  data: EndpointItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;

  /** How many match the filters, over all pages; only when `count` asks for it. */
  @ApiProperty({ type: ListCount, required: false })
  count?: ListCount;
}

/** An endpoint with all its settings. Secrets are never in it. */
export class EndpointDetail extends EndpointItem {
  /** Where its events go, and which of them, in the order in which they are tried. */
  @ApiProperty({ type: [RouteItem] })
  routes: RouteItem[];

  /** Synchronous answers by rules; null without any. */
  @ApiProperty({ type: ResponseRules, nullable: true })
  responseRules: ResponseRules | null;

  /** Whom to ask for the synchronous answer, with the defaults in force; null for nobody. */
  @ApiProperty({ type: ResponseProxyConfig, nullable: true })
  responseProxy: ResponseProxyConfig | null;

  /** What changes events before they are routed, with the defaults in force; null for nothing. */
  @ApiProperty({ type: TransformConfig, nullable: true })
  transform: TransformConfig | null;

  /** How it answers, without its secrets; null for the preset's way, or the default 200. */
  @ApiProperty({ type: ResponseView, nullable: true })
  response: ResponseView | null;

  /** How the sender signs; null for the defaults. */
  @ApiProperty({ type: VerificationConfig, nullable: true })
  verificationConfig: VerificationConfig | null;

  /** The HTTP methods that it takes; null for any. */
  @ApiProperty(METHODS)
  allowed_methods: string[] | null;

  /** What repeats are told by, with the window in force; null where they are events like others. */
  @ApiProperty({ type: DeduplicationConfig, nullable: true })
  deduplicate: DeduplicationConfig | null;
}

/** The endpoint that a path names. Throws 404 for what can't be one. */
export function endpointId(text: string): Id {
  const id = parseId('ep', text);
  if (id === null) throw notFound('endpoint');
  return id;
}

export function newEndpoint(body: NewEndpointBody): NewEndpoint {
  const { url, slug, path, domainId, status = 'active' } = body;
  return { address: { url, slug, path }, domainId: domainId ?? null, status, ...settingsAndRoutes(body) };
}

export function endpointChanges(body: EndpointChangesBody): EndpointChangesAsked {
  const { url, status } = body;
  return { url, status, ...settingsAndRoutes(body) };
}

export function presentPage({ listings, nextCursor, count }: EndpointListings): EndpointPage {
  return {
    data: listings.map(presentItem),
    next_cursor: nextCursor,
    ...(count !== null && { count: listCount(count) }),
  };
}

export function presentEndpoint(view: EndpointView): EndpointDetail {
  const { row, routes, response } = view;
  return {
    ...presentItem(view),
    routes: routes.map(presentRoute),
    responseRules: row.responseRules,
    responseProxy: row.responseProxy && proxyInForce(row.responseProxy),
    transform: row.transform && transformInForce(row.transform),
    response: response && withoutSecrets(response),
    verificationConfig: row.verificationConfig,
    allowed_methods: row.allowedMethods,
    deduplicate: row.deduplicate && deduplicationInForce(row.deduplicate),
  };
}

function settingsAndRoutes(body: EndpointSettingsBody): Pick<NewEndpoint, 'settings' | 'routes'> {
  const {
    name,
    preset,
    responseRules,
    responseProxy,
    transform,
    response,
    verification,
    verificationConfig,
    allowed_methods: allowedMethods,
    deduplicate,
    destinations,
    routes,
  } = body;
  const settings: SettingsChanges = {
    name,
    preset,
    responseRules,
    responseProxy,
    transform,
    response,
    verification,
    verificationConfig,
    allowedMethods,
    deduplicate,
  };
  return { settings, routes: { destinations, routes: routes?.map(askedRoute) } };
}

function presentItem({ row, routes, url, domain }: EndpointListing): EndpointItem {
  return {
    id: showId('ep', row.id),
    path: row.path,
    name: row.name,
    preset: row.preset,
    url,
    domain: presentDomain(domain),
    destinations: routes.map(({ destinationId }) => showId('dst', destinationId)),
    verification: row.verification,
    status: row.status,
    has_secret: row.secrets !== null,
    version: row.version,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function withoutSecrets(response: ResponseSettings): ResponseView {
  const shown = Object.entries(response).filter(([name]) => !RESPONSE_SECRETS.some((secret) => secret === name));
  return Object.fromEntries(shown) as unknown as ResponseView;
}
