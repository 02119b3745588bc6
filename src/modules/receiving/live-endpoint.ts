import { compileFilter } from '#engine/conditions/condition.js';
import { compileRules, type CompiledRules } from '#engine/conditions/rules.js';
import { genericScheme, GENERIC_SCHEMES, type GenericSchemeName } from '#engine/inbound/generic.js';
import type { Preset } from '#engine/inbound/preset.js';
import { presetOf } from '#engine/inbound/presets.js';
import type { ResponseSettings } from '#engine/inbound/response.js';
import type { Scheme } from '#engine/inbound/scheme.js';
import type { EndpointSummary, LiveRoute } from '#modules/endpoints/contract.js';
import type { ProviderSecret } from '#modules/endpoints/endpoint-vault.js';
import type { EndpointEntity, ResponseProxySettings, RouteEntity, TransformSettings } from '#modules/endpoints/endpoints.entities.js';

/** An endpoint as requests go through it: its configuration compiled once. */
export interface LiveEndpoint extends EndpointSummary {
  /** Rises with every change: what has failed until then is tried again. */
  version: number;
  preset: Preset | null;
  scheme: Scheme;
  secrets: readonly ProviderSecret[];
  response: ResponseSettings | null;
  rules: CompiledRules | null;
  responseProxy: ResponseProxySettings | null;
  transform: TransformSettings | null;
}

/** Refuses what was saved by another version and does not compile any more: nothing is received under half a configuration. */
export function liveEndpoint(
  row: EndpointEntity, routes: readonly RouteEntity[], opened: { secrets: readonly ProviderSecret[]; response: ResponseSettings | null },
): LiveEndpoint {
  const preset = row.preset === null ? null : presetOf(row.preset);
  return {
    environmentId: row.environmentId,
    id: row.id,
    path: row.path,
    status: row.status,
    version: row.version,
    preset,
    scheme: schemeOf(row, preset),
    secrets: opened.secrets,
    response: opened.response ?? preset?.response ?? null,
    rules: row.responseRules && compiled(compileRules(row.responseRules, 'responseRules')).rules,
    responseProxy: row.responseProxy,
    transform: row.transform,
    routes: routes.map(liveRoute),
  };
}

function liveRoute({ id, destinationId, filter }: RouteEntity): LiveRoute {
  return { id, destinationId, filter: filter && compiled(compileFilter(filter, 'filter')).condition };
}

function schemeOf(row: EndpointEntity, preset: Preset | null): Scheme {
  const generic = GENERIC_SCHEMES.find((name): name is GenericSchemeName => name === row.verification);
  if (generic) return genericScheme(generic, (row.verificationConfig ?? {}));
  if (row.verification === 'none') return { kind: 'none' };
  if (preset === null) throw new Error(`The endpoint verifies by "${row.verification}", which is not known.`);
  return preset.verify;
}

function compiled<T extends object>(result: T | { faults: { path: string; message: string }[] }): T {
  if ('faults' in result) throw new Error(`The endpoint's configuration does not compile: ${JSON.stringify(result.faults)}`);
  return result;
}
