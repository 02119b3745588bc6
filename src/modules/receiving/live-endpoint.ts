import { compileFilter } from '#engine/conditions/condition.js';
import { type CompiledRules, compileRules } from '#engine/conditions/rules.js';
import { compileDeduplication, type Deduplication } from '#engine/inbound/deduplication.js';
import type { Preset } from '#engine/inbound/preset.js';
import { presetOf } from '#engine/inbound/presets.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import type { Scheme } from '#engine/inbound/scheme.js';
import type { Id } from '#kernel/ids.js';
import {
  type ConfiguredRoute,
  type EndpointConfiguration,
  type ProviderSecret,
  type ResponseProxySettings,
  schemeOf,
  type TransformSettings,
} from '#modules/endpoints/contract.js';
import type { EndpointSummary, LiveRoute } from './contract.js';

/** An endpoint as requests go through it: its configuration compiled once. */
export interface LiveEndpoint extends EndpointSummary {
  /** Rises with every change: what has failed until then is tried again. */
  version: number;
  /** Null on the platform's host. */
  domainId: Id | null;
  preset: Preset | null;
  scheme: Scheme;
  secrets: readonly ProviderSecret[];
  response: ResponseSettings | null;
  rules: CompiledRules | null;
  responseProxy: ResponseProxySettings | null;
  transform: TransformSettings | null;
  /** HTTP methods that it takes; null for any. */
  allowedMethods: readonly string[] | null;
  /** What repeats are told by; null where they are events like others. */
  deduplication: Deduplication | null;
}

/** Refuses what was saved by another version and does not compile any more: nothing is received under half a configuration. */
export function liveEndpoint(configuration: EndpointConfiguration): LiveEndpoint {
  const preset = configuration.preset === null ? null : presetOf(configuration.preset);
  return {
    environmentId: configuration.environmentId,
    id: configuration.id,
    // One at the root of its host is not nameless in what people read.
    path: configuration.path || '/',
    domainId: configuration.domainId,
    status: configuration.status,
    version: configuration.version,
    preset,
    scheme: schemeOf(configuration),
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

/** What verifies now, the newest first: a secret that was replaced does so until its grace ends. */
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
