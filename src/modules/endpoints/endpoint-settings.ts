import { compileRules } from '#engine/conditions/rules.js';
import { deduplicationFaults, type DeduplicationSettings, WINDOW_HOURS } from '#engine/inbound/deduplication.js';
import { GENERIC_SCHEMES, genericFaults, type GenericSchemeName } from '#engine/inbound/generic.js';
import { responseFaults, type ResponseSettings } from '#engine/inbound/response.js';
import { secretHeaders } from '#engine/inbound/secret-headers.js';
import { ruleHeaders, steeringPaths } from '#engine/inbound/steering-headers.js';
import { isSensitive, placeholderFaults } from '#kernel/crypto/sensitive-headers.js';
import type { Fault } from '#kernel/errors.js';
import {
  type FindPreset,
  hostFaults,
  PROXY_TIMEOUT_MS,
  type ResponseProxySettings,
  schemeOf,
  TRANSFORM_TIMEOUT_MS,
  type TransformSettings,
} from './contract.js';
import type { EndpointEntity } from './endpoints.entities.js';

type Columns = Pick<
  EndpointEntity,
  | 'name'
  | 'preset'
  | 'verification'
  | 'verificationConfig'
  | 'responseRules'
  | 'responseProxy'
  | 'transform'
  | 'allowedMethods'
  | 'deduplicate'
  | 'maxBodyBytes'
>;

/** Settings that callers can change, except address and routes. `response` is decrypted. */
export type Settings = Columns & { response: ResponseSettings | null };

/**
 * Changes to settings. Omitted fields keep their value. `null` clears a field, and resets `verification` to its
 * default.
 */
export type SettingsChanges = {
  [K in keyof Settings]?: K extends 'name'
    ? string
    : K extends 'responseRules' | 'verificationConfig'
      ? object | null
      : Settings[K] | null;
};

export const DEFAULT_SETTINGS: Readonly<Omit<Settings, 'name'>> = Object.freeze({
  preset: null,
  verification: 'none',
  verificationConfig: null,
  responseRules: null,
  responseProxy: null,
  transform: null,
  allowedMethods: null,
  deduplicate: null,
  maxBodyBytes: null,
  response: null,
});

/** Response settings that the API never returns. If a change omits them, the stored values stay. */
export const RESPONSE_SECRETS = ['verifyToken', 'secret', 'verificationToken'] as const;

const BY_PRESET = 'preset';
const UNVERIFIED = 'none';

/** Returns the new settings and all errors, except those that need external data (see `OutsideChecks`). */
export function changed(
  before: Settings,
  changes: SettingsChanges,
  findPreset: FindPreset,
): { settings: Settings; faults: Fault[] } {
  const preset = changes.preset === undefined ? before.preset : changes.preset;
  const verification = verificationAfter(before, changes.verification, preset);
  const settings: Settings = {
    name: changes.name ?? before.name,
    preset,
    verification: verification ?? before.verification,
    verificationConfig: genericOf(verification) === null ? null : configAfter(before, changes, verification),
    responseRules: objectAfter(before.responseRules, changes.responseRules),
    responseProxy: changes.responseProxy === undefined ? before.responseProxy : withNormalUrl(changes.responseProxy),
    transform: changes.transform === undefined ? before.transform : withNormalUrl(changes.transform),
    allowedMethods: changes.allowedMethods === undefined ? before.allowedMethods : methodsAfter(changes.allowedMethods),
    deduplicate: changes.deduplicate === undefined ? before.deduplicate : changes.deduplicate,
    maxBodyBytes: changes.maxBodyBytes === undefined ? before.maxBodyBytes : changes.maxBodyBytes,
    response: changes.response === undefined ? before.response : responseAfter(before.response, changes.response),
  };
  const faults = [
    ...verificationFaults(changes, { verification, preset }, findPreset),
    ...genericSettingsFaults(changes, settings),
    ...configFaults(changes, settings),
  ];
  return {
    settings,
    faults: [...faults, ...repeatFaults(changes, settings, { findPreset, isVerified: faults.length === 0 })],
  };
}

export function proxyInForce(settings: ResponseProxySettings): ResponseProxySettings {
  return {
    ...settings,
    timeoutMs: settings.timeoutMs ?? PROXY_TIMEOUT_MS[settings.target],
    onUnavailable: settings.onUnavailable ?? 'fallback',
  };
}

export function deduplicationInForce(settings: DeduplicationSettings): DeduplicationSettings {
  return { ...settings, window_hours: settings.window_hours ?? WINDOW_HOURS };
}

export function transformInForce(settings: TransformSettings): TransformSettings {
  return {
    ...settings,
    failMode: settings.failMode ?? 'closed',
    timeoutMs: settings.timeoutMs ?? TRANSFORM_TIMEOUT_MS[settings.engine],
  };
}

/**
 * Returns the new verification, or `null` if the requested verification is not allowed. If none is requested, adding a
 * first preset enables verification by preset, and removing the preset disables it.
 */
function verificationAfter(before: Settings, asked: string | null | undefined, preset: string | null): string | null {
  if (asked === undefined) {
    if (before.verification === BY_PRESET && preset === null) return UNVERIFIED;
    return before.verification === UNVERIFIED && before.preset === null && preset !== null
      ? BY_PRESET
      : before.verification;
  }
  if (asked === null) return preset === null ? UNVERIFIED : BY_PRESET;
  if (asked === UNVERIFIED || genericOf(asked) !== null) return asked;
  return preset !== null && (asked === BY_PRESET || asked === preset) ? BY_PRESET : null;
}

function verificationFaults(
  changes: SettingsChanges,
  { verification, preset }: { verification: string | null; preset: string | null },
  findPreset: FindPreset,
): Fault[] {
  const faults: Fault[] = [];
  if (typeof changes.preset === 'string' && findPreset(changes.preset) === null) {
    faults.push({ path: 'preset', message: 'is not known: see the documentation for the list' });
  }
  if (verification === null) {
    const byPreset = preset === null ? 'preset beside a preset' : `preset (or ${preset})`;
    faults.push({ path: 'verification', message: `must be one of none, ${byPreset}, ${GENERIC_SCHEMES.join(', ')}` });
  }
  if (!changes.verificationConfig || genericOf(verification) !== null) return faults;
  return [...faults, { path: 'verificationConfig', message: `is for ${GENERIC_SCHEMES.join(', ')} only` }];
}

/**
 * Returns the errors in the verification settings. Checks them only if the call changes them or the verification
 * scheme.
 */
function genericSettingsFaults(changes: SettingsChanges, { verification, verificationConfig }: Settings): Fault[] {
  const name = genericOf(verification);
  if (name === null || (changes.verification === undefined && changes.verificationConfig === undefined)) return [];
  return verificationConfig === null && name !== 'jwt'
    ? []
    : genericFaults(verificationConfig, 'verificationConfig', name);
}

/** Returns the new verification settings. Drops stored settings that are invalid for the new scheme. */
function configAfter(
  before: Settings,
  { verificationConfig }: SettingsChanges,
  verification: string | null,
): Record<string, unknown> | null {
  const name = genericOf(verification);
  const isKept =
    verificationConfig === undefined &&
    name !== null &&
    before.verificationConfig !== null &&
    (before.verification === verification || genericFaults(before.verificationConfig, '', name).length === 0);
  return isKept ? before.verificationConfig : objectAfter(null, verificationConfig);
}

/**
 * Returns the errors in changed settings. Unchanged settings are not checked, so that old errors do not block a change.
 */
function configFaults(changes: SettingsChanges, { response }: Settings): Fault[] {
  const { responseRules, responseProxy, transform } = changes;
  const rules = responseRules ? compileRules(responseRules, 'responseRules') : null;
  return [
    ...(rules && 'faults' in rules
      ? rules.faults
      : steeringPaths(responseRules ?? {}, 'responseRules').map(refusedHeader)),
    ...(rules && 'faults' in rules
      ? []
      : ruleHeaders(responseRules ?? {}, 'responseRules').flatMap(([path, headers]) =>
          placeholderFaults(headers, path),
        )),
    ...(responseProxy ? hostFaults(responseProxy, responseProxy.target, 'responseProxy') : []),
    ...(transform ? hostFaults(transform, transform.engine, 'transform') : []),
    ...(changes.response
      ? [...responseFaults(response), ...placeholderFaults(changes.response.headers, 'response.headers')]
      : []),
  ];
}

/**
 * Returns the errors in the deduplication settings. Checks the settings only if the call changes them or the preset,
 * because the preset determines which settings are valid. `isVerified` means that the verification settings have no
 * errors.
 */
function repeatFaults(
  changes: SettingsChanges,
  settings: Settings,
  { findPreset, isVerified }: { findPreset: FindPreset; isVerified: boolean },
): Fault[] {
  const { deduplicate, preset } = settings;
  if (deduplicate === null || (changes.deduplicate === undefined && changes.preset === undefined)) return [];
  const faults = deduplicationFaults(deduplicate, preset === null ? null : findPreset(preset), 'deduplicate');
  const name = deduplicate.name?.toLowerCase() ?? '';
  // The header must not contain a secret, because raw requests show its value.
  const isSecret =
    isSensitive(name) || (isVerified && secretHeaders(schemeOf(settings, findPreset)).has(name.replaceAll('_', '-')));
  return isSecret
    ? [...faults, { path: 'deduplicate.name', message: 'is a header that authenticates and cannot be used as an id' }]
    : faults;
}

const refusedHeader = (path: string): Fault => ({
  path,
  message: "This header is set by the service or by the connection and can't be part of an answer.",
});

/** Returns the new response settings. If the type does not change, omitted secrets keep their stored values. */
function responseAfter(before: ResponseSettings | null, given: ResponseSettings | null): ResponseSettings | null {
  if (given === null || before?.type !== given.type) return given;
  const kept = RESPONSE_SECRETS.filter((name) => given[name] === undefined && before[name] !== undefined);
  return { ...given, ...Object.fromEntries(kept.map((name) => [name, before[name]])) };
}

/** Returns the allowed methods. An empty list allows any method. */
function methodsAfter(given: string[] | null): string[] | null {
  return given === null || given.length === 0 ? null : given;
}

function objectAfter(
  before: Record<string, unknown> | null,
  given: object | null | undefined,
): Record<string, unknown> | null {
  return given === undefined ? before : (given as Record<string, unknown> | null);
}

/**
 * Returns the settings with the URL in normalized form. Leaves an invalid URL unchanged, because later checks reject
 * it.
 */
function withNormalUrl<T extends { url?: string }>(settings: T | null): T | null {
  if (settings?.url === undefined || !URL.canParse(settings.url)) return settings;
  return { ...settings, url: new URL(settings.url).href };
}

function genericOf(verification: string | null): GenericSchemeName | null {
  return GENERIC_SCHEMES.find((name) => name === verification) ?? null;
}
