import { compileFilter } from '#engine/conditions/condition.js';
import { type CompiledRules, compileRules } from '#engine/conditions/rules.js';
import { compileDeduplication, type Deduplication } from '#engine/inbound/deduplication.js';
import type { Preset } from '#engine/inbound/preset.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import type { Scheme } from '#engine/inbound/scheme.js';
import type { Id } from '#kernel/ids.js';
import {
  type ConfiguredRoute,
  type EndpointConfiguration,
  type FindPreset,
  type ProviderSecret,
  type ResponseProxySettings,
  schemeOf,
  type TransformSettings,
} from '#modules/endpoints/contract.js';
import type { EndpointSummary, LiveRoute } from './contract.js';

/** An inbound endpoint whose configuration is compiled once. */
export interface LiveEndpoint extends EndpointSummary {
  /** Incremented by every change of the endpoint. Failed operations are tried again with a new version. */
  version: number;
  /** Domain of the endpoint. `null` if it is on the platform's host. */
  domainId: Id | null;
  preset: Preset | null;
  scheme: Scheme;
  secrets: readonly ProviderSecret[];
  response: ResponseSettings | null;
  rules: CompiledRules | null;
  responseProxy: ResponseProxySettings | null;
  transform: TransformSettings | null;
  /** `null` if the endpoint accepts any method. */
  allowedMethods: readonly string[] | null;
  /** `null` if duplicates are not dropped. */
  deduplication: Deduplication | null;
}

/** Throws if a configuration of another Posthorn version does not compile, because a part of it must not be applied. */
export function liveEndpoint(configuration: EndpointConfiguration, findPreset: FindPreset): LiveEndpoint {
  const preset = configuration.preset === null ? null : findPreset(configuration.preset);
  return {
    environmentId: configuration.environmentId,
    id: configuration.id,
    // Shows an endpoint at the root of its host as `/` instead of an empty string.
    path: configuration.path || '/',
    domainId: configuration.domainId,
    status: configuration.status,
    version: configuration.version,
    preset,
    scheme: schemeOf(configuration, findPreset),
    secrets: configuration.secrets,
    response: configuration.response ?? preset?.response ?? null,
    rules: configuration.responseRules && compiled(compileRules(configuration.responseRules, 'responseRules')).rules,
    responseProxy: configuration.responseProxy,
    transform: configuration.transform,
    allowedMethods: configuration.allowedMethods,
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
