import type { DeduplicationSettings } from '#engine/inbound/deduplication.js';
import { GENERIC_SCHEMES, genericScheme, type GenericSchemeName } from '#engine/inbound/generic.js';
import type { Preset } from '#engine/inbound/preset.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import type { Scheme } from '#engine/inbound/scheme.js';
import { type Fault, unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';

/** Path prefix of endpoints on the platform's host, after BASE_URL. */
export const INGEST_PREFIX = '/in/';

/**
 * Limits for a request's body in bytes: the default, and the highest value that can be set (the same as GitHub's
 * limit).
 */
export const BODY_BYTES_DEFAULT = 1024 * 1024;
export const BODY_BYTES_MAX = 25 * 1024 * 1024;

export const TRANSFORM_TIMEOUT_MS = { managed: 250, url: 3_000 } as const;
export const PROXY_TIMEOUT_MS = { managed: 250, url: 3_000 } as const;

export interface ResponseProxySettings {
  target: 'managed' | 'url';
  code?: string;
  url?: string;
  timeoutMs?: number;
  onUnavailable?: 'fallback' | 'error';
}

/** Transform that is applied to the body before routing. */
export interface TransformSettings {
  engine: 'managed' | 'url';
  code?: string;
  url?: string;
  failMode?: 'open' | 'closed';
  timeoutMs?: number;
}

/**
 * A secret with which a provider signs. `untilMs` is the time at which it becomes invalid, or null for the current
 * secret.
 */
export interface ProviderSecret {
  secret: string;
  untilMs: number | null;
}

export interface EndpointAddress {
  environmentId: number;
  id: Id;
  /** Path of the endpoint. Empty at the root of a custom host. */
  path: string;
}

/** A route. Its condition has the filter syntax. A null condition selects all events. */
export interface ConfiguredRoute {
  id: Id;
  destinationId: Id;
  filter: Record<string, unknown> | null;
}

export interface EndpointConfiguration extends EndpointAddress {
  /** Custom domain of the endpoint. `null` on the platform's host. */
  domainId: Id | null;
  status: 'active' | 'paused' | 'disabled';
  /** Version of the configuration, incremented by every change. */
  version: number;
  preset: string | null;
  /** Verification scheme: `preset`, `none`, or a scheme for senders without a preset, such as `hmac-sha256`. */
  verification: string;
  verificationConfig: Record<string, unknown> | null;
  /** Secrets with which requests are verified, newest first. */
  secrets: readonly ProviderSecret[];
  response: ResponseSettings | null;
  responseRules: Record<string, unknown> | null;
  responseProxy: ResponseProxySettings | null;
  transform: TransformSettings | null;
  /** Allowed HTTP methods. `null` accepts any method. */
  allowedMethods: readonly string[] | null;
  /** Source of the id that detects duplicates. `null` if duplicates are not dropped. */
  deduplicate: DeduplicationSettings | null;
  /** Maximum size of a request's body. `null` for the default. */
  maxBodyBytes: number | null;
  /** Routes in the order of evaluation. */
  routes: readonly ConfiguredRoute[];
}

/** Finds a preset by id. Returns null for an unknown preset. */
export type FindPreset = (id: string) => Preset | null;

/**
 * Returns the verification scheme of an endpoint. Throws for an unknown name, and for `preset` without a preset. If the
 * extension with the preset is not loaded, verification rejects with 503, so that the provider sends the request again.
 */
export function schemeOf(
  {
    preset,
    verification,
    verificationConfig,
  }: Pick<EndpointConfiguration, 'preset' | 'verification' | 'verificationConfig'>,
  findPreset: FindPreset,
): Scheme {
  const generic = GENERIC_SCHEMES.find((name): name is GenericSchemeName => name === verification);
  if (generic) return genericScheme(generic, verificationConfig ?? {});
  if (verification === 'none') return { kind: 'none' };
  if (preset === null || verification !== 'preset')
    throw new Error(`The endpoint's verification "${verification}" is unknown.`);
  return findPreset(preset)?.verify ?? absentScheme(preset);
}

function absentScheme(preset: string): Scheme {
  const verify = (): Promise<boolean> =>
    Promise.reject(unavailable(`The preset ${preset} is not available here: its extension is not loaded.`));
  return { kind: 'code', verify, secretHeaders: [] };
}

/**
 * Returns errors if the fields do not match `host`. With `managed`, Posthorn runs the code, which requires `code` and
 * excludes `url`. With `url`, the user's server runs the code, which requires `url` and excludes `code`.
 */
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
