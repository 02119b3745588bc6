import type { DeduplicationSettings } from '#engine/inbound/deduplication.js';
import { GENERIC_SCHEMES, genericScheme, type GenericSchemeName } from '#engine/inbound/generic.js';
import { presetOf } from '#engine/inbound/presets.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import type { Scheme } from '#engine/inbound/scheme.js';
import type { Fault } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';

/** Where endpoints are on the platform's host, behind BASE_URL. */
export const INGEST_PREFIX = '/in/';

/** How long a transform may take unless the endpoint says otherwise, in milliseconds. */
export const TRANSFORM_TIMEOUT_MS = { managed: 250, url: 3_000 } as const;
/** The same for what is asked for a synchronous answer. */
export const PROXY_TIMEOUT_MS = { managed: 250, url: 3_000 } as const;

/** Where a synchronous answer is asked for, as the caller gave it. */
export interface ResponseProxySettings {
  target: 'managed' | 'url';
  code?: string;
  url?: string;
  timeoutMs?: number;
  onUnavailable?: 'fallback' | 'error';
}

/** What a body goes through before it is routed, as the caller gave it. */
export interface TransformSettings {
  engine: 'managed' | 'url';
  code?: string;
  url?: string;
  failMode?: 'open' | 'closed';
  timeoutMs?: number;
}

/** A provider's secret; `untilMs` is when it stops verifying, null for the one in force. */
export interface ProviderSecret {
  secret: string;
  untilMs: number | null;
}

/** Which endpoint lives at a path, and in which environment. */
export interface EndpointAddress {
  environmentId: number;
  id: Id;
  /** Empty for one at the root of a host of its own. */
  path: string;
}

/** Where an endpoint's events go, and which of them: a condition in the grammar of filters, null for all. */
export interface ConfiguredRoute {
  id: Id;
  destinationId: Id;
  filter: Record<string, unknown> | null;
}

/** An endpoint as it is set up, with what is sealed in the database open. */
export interface EndpointConfiguration extends EndpointAddress {
  /** Null on the platform's host. */
  domainId: Id | null;
  status: 'active' | 'paused' | 'disabled';
  /** Rises with every change. */
  version: number;
  preset: string | null;
  /** `preset`, `none`, `hmac-sha256`, `hmac-sha1` or `hmac-sha512`. */
  verification: string;
  verificationConfig: Record<string, unknown> | null;
  /** The newest first. */
  secrets: readonly ProviderSecret[];
  response: ResponseSettings | null;
  responseRules: Record<string, unknown> | null;
  responseProxy: ResponseProxySettings | null;
  transform: TransformSettings | null;
  /** HTTP methods that it takes; null for any. */
  allowedMethods: readonly string[] | null;
  /** What repeats are told by; null where they are events like others. */
  deduplicate: DeduplicationSettings | null;
  /** In the order in which they are tried. */
  routes: readonly ConfiguredRoute[];
}

/** How what comes to an endpoint is verified. Throws for a name that is none, and for a preset without one. */
export function schemeOf({
  preset,
  verification,
  verificationConfig,
}: Pick<EndpointConfiguration, 'preset' | 'verification' | 'verificationConfig'>): Scheme {
  const generic = GENERIC_SCHEMES.find((name): name is GenericSchemeName => name === verification);
  if (generic) return genericScheme(generic, verificationConfig ?? {});
  if (verification === 'none') return { kind: 'none' };
  const scheme = preset === null ? undefined : presetOf(preset)?.verify;
  if (scheme === undefined) throw new Error(`The endpoint verifies by "${verification}", which is not known.`);
  return scheme;
}

/** What holds for a proxy and a transform alike: `managed` is code, and `url` is a URL. */
export function hostFaults(
  { code, url }: ResponseProxySettings | TransformSettings,
  host: 'managed' | 'url',
  at: string,
): Fault[] {
  const [needed, other] = host === 'managed' ? (['code', 'url'] as const) : (['url', 'code'] as const);
  const given = { code, url };
  const faults: Fault[] = [];
  if (given[needed] === undefined) faults.push({ path: `${at}.${needed}`, message: `is required for ${host}` });
  if (given[other] !== undefined) faults.push({ path: `${at}.${other}`, message: `is not for ${host}` });
  return faults;
}

/** How endpoints are set up now. A change is announced as `endpoint` in its own transaction: whoever remembers one listens. */
export abstract class EndpointConfigurations {
  /** The longest of the given paths that an endpoint lives at, on the platform's host or on a domain; null when none does. */
  abstract at(paths: readonly string[], domainId: Id | null): Promise<EndpointAddress | null>;

  /** Whatever its status; null when there is none in this environment. */
  abstract find(environmentId: number, id: Id): Promise<EndpointConfiguration | null>;

  /** Sets the endpoint's secret while it has none, whoever asks at the same time; false when it has one, or is gone. */
  abstract setFirstSecret(environmentId: number, id: Id, secret: string): Promise<boolean>;
}
