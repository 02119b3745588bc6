import type { DeduplicationSettings } from '#engine/inbound/deduplication.js';
import { GENERIC_SCHEMES, genericScheme, type GenericSchemeName } from '#engine/inbound/generic.js';
import { presetOf } from '#engine/inbound/presets.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import type { Scheme } from '#engine/inbound/scheme.js';
import type { Fault } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';

/** Path prefix of endpoints on the platform's host, after BASE_URL. */
export const INGEST_PREFIX = '/in/';

/** Default time limits of transforms, in milliseconds. */
export const TRANSFORM_TIMEOUT_MS = { managed: 250, url: 3_000 } as const;
/** Default time limits of response proxies, in milliseconds. */
export const PROXY_TIMEOUT_MS = { managed: 250, url: 3_000 } as const;

/** Settings of a response proxy as the caller gave them. */
export interface ResponseProxySettings {
  target: 'managed' | 'url';
  code?: string;
  url?: string;
  timeoutMs?: number;
  onUnavailable?: 'fallback' | 'error';
}

/** Settings of a transform, which changes the body before it is routed, as the caller gave them. */
export interface TransformSettings {
  engine: 'managed' | 'url';
  code?: string;
  url?: string;
  failMode?: 'open' | 'closed';
  timeoutMs?: number;
}

/** A secret of the provider. `untilMs` is the time at which it stops verifying, or null for the current one. */
export interface ProviderSecret {
  secret: string;
  untilMs: number | null;
}

/** The endpoint at a path, and its environment. */
export interface EndpointAddress {
  environmentId: number;
  id: Id;
  /** Empty for an endpoint at the root of a custom host. */
  path: string;
}

/**
 * A route of an endpoint: a destination and a condition in the grammar of filters. A null condition selects all events.
 */
export interface ConfiguredRoute {
  id: Id;
  destinationId: Id;
  filter: Record<string, unknown> | null;
}

/** The configuration of an endpoint with decrypted secrets. */
export interface EndpointConfiguration extends EndpointAddress {
  /** `null` on the platform's host. */
  domainId: Id | null;
  status: 'active' | 'paused' | 'disabled';
  /** Version number, incremented by every change. */
  version: number;
  preset: string | null;
  /** `preset`, `none`, `hmac-sha256`, `hmac-sha1` or `hmac-sha512`. */
  verification: string;
  verificationConfig: Record<string, unknown> | null;
  /** Ordered newest first. */
  secrets: readonly ProviderSecret[];
  response: ResponseSettings | null;
  responseRules: Record<string, unknown> | null;
  responseProxy: ResponseProxySettings | null;
  transform: TransformSettings | null;
  /** HTTP methods that the endpoint accepts. `null` if it accepts any method. */
  allowedMethods: readonly string[] | null;
  /** Source of the id by which duplicates are detected. `null` if duplicates are not dropped. */
  deduplicate: DeduplicationSettings | null;
  /** Ordered as they are evaluated. */
  routes: readonly ConfiguredRoute[];
}

/** Returns the verification scheme of an endpoint. Throws for an unknown name, and for `preset` without a preset. */
export function schemeOf({
  preset,
  verification,
  verificationConfig,
}: Pick<EndpointConfiguration, 'preset' | 'verification' | 'verificationConfig'>): Scheme {
  const generic = GENERIC_SCHEMES.find((name): name is GenericSchemeName => name === verification);
  if (generic) return genericScheme(generic, verificationConfig ?? {});
  if (verification === 'none') return { kind: 'none' };
  const scheme = preset === null ? undefined : presetOf(preset)?.verify;
  if (scheme === undefined) throw new Error(`The endpoint's verification "${verification}" is unknown.`);
  return scheme;
}

/** Validates the settings that proxies and transforms share: `managed` needs code, and `url` needs a URL. */
export function hostFaults(
  { code, url }: ResponseProxySettings | TransformSettings,
  host: 'managed' | 'url',
  at: string,
): Fault[] {
  const [needed, other] = host === 'managed' ? (['code', 'url'] as const) : (['url', 'code'] as const);
  const given = { code, url };
  const faults: Fault[] = [];
  if (given[needed] === undefined) faults.push({ path: `${at}.${needed}`, message: `is required for ${host}` });
  if (given[other] !== undefined) faults.push({ path: `${at}.${other}`, message: `is not allowed for ${host}` });
  return faults;
}

/**
 * Current configurations of endpoints. Every change sends the notification `endpoint` in its own transaction. Callers
 * that cache a configuration must listen for it.
 */
export abstract class EndpointConfigurations {
  /**
   * Returns the endpoint at the longest of the given paths that has one, on the platform's host or on a domain. Returns
   * `null` if none has.
   */
  abstract at(paths: readonly string[], domainId: Id | null): Promise<EndpointAddress | null>;

  /** Returns the configuration of an endpoint in any status. Returns `null` if there is none in this environment. */
  abstract find(environmentId: number, id: Id): Promise<EndpointConfiguration | null>;

  /**
   * Sets the endpoint's secret only if it has none, safely under concurrent calls. Returns false if it has one or the
   * endpoint is gone.
   */
  abstract setFirstSecret(environmentId: number, id: Id, secret: string): Promise<boolean>;
}
