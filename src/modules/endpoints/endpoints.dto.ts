import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { RECEIVED_METHODS, type ReceivedMethod } from '#engine/inbound/methods.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import { ListCount, listCount } from '#http/list-count.dto.js';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import { PREFIX_LENGTH_MAX } from '#kernel/database/prefix.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import { BODY_BYTES_DEFAULT, BODY_BYTES_MAX } from './contract.js';
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

/** Filters of the endpoint list. */
export class EndpointListQuery {
  /** Returns only endpoints with this status. */
  @ApiProperty({ example: 'active' })
  @CanBeOmitted()
  @IsIn(STATUSES)
  status?: (typeof STATUSES)[number];

  /** Returns only endpoints with the preset of this provider. */
  @ApiProperty({ example: 'stripe' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  preset?: string;

  /** Returns only endpoints whose name or slug begins with this text, ignoring case. */
  @ApiProperty({ example: 'stri' })
  @CanBeOmitted()
  @IsString()
  @Length(1, PREFIX_LENGTH_MAX)
  search?: string;

  /** If `true`, the response also contains the number of items that match the filters, counted up to 1,000. */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  count?: boolean;

  /**
   * Cursor of the page to return: the `next_cursor` of the previous page, requested with the same filters. Returns the
   * first page if omitted.
   */
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

/** Settings of an endpoint that can be given at creation and changed later. `null` clears a setting. */
export class EndpointSettingsBody {
  /** Display name. Defaults to the part of the path after the organization's slug. */
  @ApiProperty({ example: 'Stripe payments' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 200)
  name?: string;

  /** Preset of the provider, which determines the signature scheme and the handshake. */
  @ApiProperty({ example: 'stripe' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  preset?: string | null;

  /**
   * Short form of `routes`: the ids of all destinations that receive the events. Existing routes to these destinations
   * keep their filters.
   */
  @ApiProperty({ example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMaxSize(ROUTES_MAX)
  @IsString({ each: true })
  @MaxLength(64, { each: true })
  destinations?: string[];

  /** All routes of the endpoint: destinations and filters for the events. */
  @CanBeOmitted()
  @IsArrayOf(() => RouteConfig)
  @ArrayMaxSize(ROUTES_MAX)
  routes?: RouteConfig[];

  /** Rules for synchronous responses. */
  @IsOptional()
  @IsObjectOf(() => ResponseRules)
  responseRules?: ResponseRules | null;

  /** Proxy that produces the synchronous response. */
  @IsOptional()
  @IsObjectOf(() => ResponseProxyConfig)
  responseProxy?: ResponseProxyConfig | null;

  /** Transform that changes events before they are routed. */
  @IsOptional()
  @IsObjectOf(() => TransformConfig)
  transform?: TransformConfig | null;

  /** Response settings. Default to the preset's response. Omitted secrets keep their values unless the type changes. */
  @IsOptional()
  @IsObjectOf(() => ResponseConfig)
  response?: ResponseConfig | null;

  /**
   * Verification of requests: `preset` (or its name), `none`, an HMAC (`hmac-sha256`, …), a public key (`rsa-sha256`,
   * `ed25519`), `jwt`, `bearer`, `basic` or `api-key`. Defaults to `preset` if a preset is set, otherwise to `none`.
   */
  @ApiProperty({ example: 'hmac-sha256' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  verification?: string | null;

  /** Settings of the verification scheme, for schemes other than presets. Required for `jwt`. */
  @IsOptional()
  @IsObjectOf(() => VerificationConfig)
  verificationConfig?: VerificationConfig | null;

  /**
   * HTTP methods that the endpoint accepts. If omitted, `null` or empty, it accepts any method. Requests with another
   * method get 405 and are not stored. This also applies to handshakes. List GET or HEAD if the provider uses that
   * method to check the URL.
   */
  @ApiProperty({ example: ['POST'] })
  @IsOptional()
  @IsArray()
  @ArrayUnique()
  @IsIn(RECEIVED_METHODS, { each: true })
  allowed_methods?: ReceivedMethod[] | null;

  /**
   * Drops requests that a provider resends. If a request has the id of an earlier request within the window, it gets
   * the response of that request and creates no event. The dropped request is stored as a raw request with the status
   * `duplicate`. If omitted, no requests are dropped.
   */
  @IsOptional()
  @IsObjectOf(() => DeduplicationConfig)
  deduplicate?: DeduplicationConfig | null;

  /**
   * Maximum size of the body of a request in bytes. Defaults to 1,048,576 (1 MB). A request with a larger body gets 413
   * and is stored without its body, as a raw request with the status `too_large`.
   */
  @ApiProperty({ example: 26_214_400 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(BODY_BYTES_MAX)
  max_body_bytes?: number | null;

  /**
   * A `paused` endpoint still responds to requests, but stores them as `parked`. Defaults to `active` for a new
   * endpoint.
   */
  @ApiProperty({ example: 'active' })
  @CanBeOmitted()
  @IsIn(['active', 'paused'])
  status?: 'active' | 'paused';
}

/** The endpoint to create. Give its address as `url`, `slug` or `path`. If you give more than one, they must agree. */
@Examples({
  plain: { summary: 'An endpoint that accepts every request', value: { slug: 'orders' } },
  preset: {
    summary: "A provider's webhooks, verified and sent to a destination",
    value: { slug: 'stripe', preset: 'stripe', destinations: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] },
  },
  filter: {
    summary: 'Send only some of the events to a destination',
    value: {
      slug: 'paid',
      routes: [
        { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', filter: { path: '$.type', op: 'eq', value: 'invoice.paid' } },
      ],
    },
  },
  paused: {
    summary: 'A paused endpoint that stores requests without delivering them',
    value: { slug: 'later', status: 'paused' },
  },
})
export class NewEndpointBody extends EndpointSettingsBody {
  /**
   * URL on an ingest domain. On the platform's host, `/in` and the organization's slug may be omitted. On your own
   * domain, the URL consists of the host and the path.
   */
  @ApiProperty({ example: 'https://hooks.example.com/in/acme/stripe' })
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  url?: string | null;

  /** The path segment after the organization's slug: lower-case letters, digits, - and _. */
  @ApiProperty({ example: 'stripe' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  slug?: string | null;

  /** Path of the endpoint below the organization's slug. A path that already starts with the slug is also accepted. */
  @ApiProperty({ example: 'acme/stripe' })
  @IsOptional()
  @IsString()
  @MaxLength(1024)
  path?: string | null;

  /**
   * Ingest domain: the platform's domain or one of your verified webhook domains. Defaults to the host of `url`.
   * Without `url`, it defaults to the platform's domain.
   */
  @ApiProperty({ example: 'pdom_00000000000000000000000001' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  domainId?: string | null;
}

/** Changes to an endpoint. Omitted fields keep their value. `null` clears optional fields. */
@Fixed({
  slug: 'cannot be changed: `url` moves the endpoint',
  path: 'cannot be changed: `url` moves the endpoint',
  domainId: 'cannot be changed: `url` moves the endpoint',
})
@Examples({
  methods: { summary: 'Accept POST requests only', value: { allowed_methods: ['POST'] } },
  route: {
    summary: "Set the destinations that receive the endpoint's events",
    value: { destinations: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] },
  },
  pause: { summary: 'Pause the endpoint: store requests without delivering them', value: { status: 'paused' } },
  activate: { summary: 'Resume the endpoint', value: { status: 'active' } },
})
export class EndpointChangesBody extends EndpointSettingsBody {
  /**
   * New URL of the endpoint. The old URL stops working immediately. On the platform's host, a URL without a path gets
   * the organization's slug as its path.
   */
  @ApiProperty({ example: 'https://hooks.example.com/in/acme/payments' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  url?: string;
}

/** The signing secret of the provider. */
export class EndpointSecretBody {
  /** Secret with which the provider signs, as shown in the provider's console. Stored encrypted and never returned. */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' })
  @IsString()
  @Length(1, 4096)
  @Matches(/^[^\x00-\x1f\x7f]*$/u)
  secret: string;

  /** Time in seconds for which the previous secrets are still accepted for verification. */
  @ApiProperty({ default: 86_400, example: 86_400 })
  @CanBeOmitted()
  @IsInt()
  @Min(0)
  @Max(604_800)
  grace_seconds?: number;
}

/** An endpoint as shown in a list. */
export class EndpointItem {
  /** Id of the endpoint. */
  @ApiProperty({ example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /**
   * Path of the endpoint. On the platform's host it begins with the organization's slug. It is empty at the root of
   * your own domain.
   */
  @ApiProperty({ example: 'acme/stripe' })
  @IsString()
  path: string;

  /** Display name. */
  @ApiProperty({ example: 'Stripe payments' })
  @IsString()
  name: string;

  /** Preset of the provider. `null` if there is none. */
  @ApiProperty({ example: 'stripe' })
  @CanBeNull()
  @IsString()
  preset: string | null;

  /** URL to configure at the provider. */
  @ApiProperty({ example: 'https://hooks.example.com/in/acme/stripe' })
  @IsString()
  url: string;

  /** Ingest domain of the URL. */
  @IsObjectOf(() => IngestDomainItem)
  domain: IngestDomainItem;

  /** Ids of the destinations that receive the events. */
  @ApiProperty({ example: ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  @IsArray()
  @IsString({ each: true })
  destinations: string[];

  /** Verification scheme of the endpoint. */
  @ApiProperty({ example: 'preset' })
  @IsIn(VERIFICATIONS)
  verification: string;

  /**
   * `paused`: requests are stored as `parked` and not delivered. `disabled`: Posthorn has switched the endpoint off.
   */
  @ApiProperty({ example: 'active' })
  @IsIn(STATUSES)
  status: (typeof STATUSES)[number];

  /** `true` if the provider's secret is set. The secret is never returned. */
  @ApiProperty({ example: true })
  @IsBoolean()
  has_secret: boolean;

  /** Version number, incremented by every change of the settings or the routes. */
  @ApiProperty({ example: 1 })
  @IsInt()
  version: number;

  /** Time of creation. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the last change, including changes of the secret. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  updated_at: string;
}

/** One page of endpoints, newest first. */
export class EndpointPage {
  /** The endpoints of this page. */
  @IsArrayOf(() => EndpointItem)
  data: EndpointItem[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;

  /** Number of items that match the filters, on all pages. Present only if the request sets `count`. */
  @CanBeOmitted()
  @IsObjectOf(() => ListCount)
  count?: ListCount;
}

/** An endpoint with all its settings, but without secrets. */
export class EndpointDetail extends EndpointItem {
  /** Routes of the endpoint, in the order in which they are evaluated. */
  @IsArrayOf(() => RouteItem)
  routes: RouteItem[];

  /** Rules for synchronous responses. `null` if there are none. */
  @CanBeNull()
  @IsObjectOf(() => ResponseRules)
  responseRules: ResponseRules | null;

  /** Proxy that produces the synchronous response, with the defaults in effect. `null` if there is none. */
  @CanBeNull()
  @IsObjectOf(() => ResponseProxyConfig)
  responseProxy: ResponseProxyConfig | null;

  /** Transform that changes events before they are routed, with the defaults in effect. `null` if there is none. */
  @CanBeNull()
  @IsObjectOf(() => TransformConfig)
  transform: TransformConfig | null;

  /**
   * Response settings without secrets. `null` if the endpoint sends the preset's response, or the default response
   * (200).
   */
  @CanBeNull()
  @IsObjectOf(() => ResponseView)
  response: ResponseView | null;

  /** Settings of the verification scheme. `null` if the defaults apply. */
  @CanBeNull()
  @IsObjectOf(() => VerificationConfig)
  verificationConfig: VerificationConfig | null;

  /** HTTP methods that the endpoint accepts. `null` if it accepts any method. */
  @ApiProperty({ example: ['POST'] })
  @CanBeNull()
  @IsArray()
  @ArrayUnique()
  @IsIn(RECEIVED_METHODS, { each: true })
  allowed_methods: string[] | null;

  /**
   * Source of the id by which duplicates are detected, with the window in effect. `null` if duplicates are not dropped.
   */
  @CanBeNull()
  @IsObjectOf(() => DeduplicationConfig)
  deduplicate: DeduplicationConfig | null;

  /** Maximum size of the body of a request in bytes, with the default in effect. */
  @ApiProperty({ example: 1_048_576 })
  @IsInt()
  max_body_bytes: number;
}

/** Parses the endpoint id in a path. Throws 404 if the text cannot be an endpoint id. */
export function endpointId(text: string): Id {
  const id = parseId('ep', text);
  if (id === null) throw noSuch('endpoint');
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
    max_body_bytes: row.maxBodyBytes ?? BODY_BYTES_DEFAULT,
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
    max_body_bytes: maxBodyBytes,
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
    maxBodyBytes,
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
