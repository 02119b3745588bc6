import { compileFilter } from '#engine/conditions/condition.js';
import { type CompiledRules, compileRules } from '#engine/conditions/rules.js';
import { compileDeduplication, type Deduplication } from '#engine/inbound/deduplication.js';
import type { Preset } from '#engine/inbound/preset.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import type { Scheme } from '#engine/inbound/scheme.js';
import { type CredentialNames, credentialNames } from '#engine/inbound/secret-headers.js';
import type { Id } from '#kernel/ids.js';
import {
  BODY_BYTES_DEFAULT,
  type ConfiguredRoute,
  type EndpointConfiguration,
  type FindPreset,
  type ProviderSecret,
  type ResponseProxySettings,
  schemeOf,
  type TransformSettings,
} from '#modules/endpoints/contract.js';
import type { EndpointSummary, LiveRoute } from './contract.js';

/** An inbound endpoint with its compiled configuration. */
export interface LiveEndpoint extends EndpointSummary {
  organizationId: Id;
  /** Version of the configuration. Every change increments it. */
  version: number;
  /** Domain of the endpoint. `null` if it is on the platform's host. */
  domainId: Id | null;
  preset: Preset | null;
  scheme: Scheme;
  /** Names of the headers and query parameters that contain the credentials of `scheme`. */
  credentials: CredentialNames;
  secrets: readonly ProviderSecret[];
  response: ResponseSettings | null;
  rules: CompiledRules | null;
  responseProxy: ResponseProxySettings | null;
  transform: TransformSettings | null;
  /** `null` if the endpoint accepts any method. */
  allowedMethods: readonly string[] | null;
  maxBodyBytes: number;
  /** `null` if duplicates are not dropped. */
  deduplication: Deduplication | null;
}

/**
 * Returns the compiled endpoint. Throws if any part of the configuration does not compile, because no part may be
 * ignored.
 */
export function liveEndpoint(
  configuration: EndpointConfiguration,
  organizationId: Id,
  findPreset: FindPreset,
): LiveEndpoint {
  const preset = configuration.preset === null ? null : findPreset(configuration.preset);
  const scheme = schemeOf(configuration, findPreset);
  return {
    organizationId,
    environmentId: configuration.environmentId,
    id: configuration.id,
    // An endpoint at the root of its host is shown as `/` instead of an empty string.
    path: configuration.path || '/',
    domainId: configuration.domainId,
    status: configuration.status,
    version: configuration.version,
    preset,
    scheme,
    credentials: credentialNames(scheme),
    secrets: configuration.secrets,
    response: configuration.response ?? preset?.response ?? null,
    rules: configuration.responseRules && compiled(compileRules(configuration.responseRules, 'responseRules')).rules,
    responseProxy: configuration.responseProxy,
    transform: configuration.transform,
    allowedMethods: configuration.allowedMethods,
    maxBodyBytes: configuration.maxBodyBytes ?? BODY_BYTES_DEFAULT,
    deduplication: configuration.deduplicate && compileDeduplication(configuration.deduplicate, preset),
    routes: configuration.routes.map(liveRoute),
  };
}

/** Returns secrets, newest first. A replaced secret remains valid until its grace period ends. */
export function secretsInForce({ secrets }: LiveEndpoint, nowMs: number): string[] {
  return secrets.filter(({ untilMs }) => untilMs === null || untilMs > nowMs).map(({ secret }) => secret);
}

function liveRoute({ id, destinationId, filter }: ConfiguredRoute): LiveRoute {
  return { id, destinationId, filter: filter && compiled(compileFilter(filter, 'filter')).condition };
}

function compiled<T extends object>(result: T | { faults: { path: string; message: string }[] }): T {
  if ('faults' in result)
    throw new Error(`The endpoint's configuration does not compile: ${JSON.stringify(result.faults)}`);
  return result;
}
