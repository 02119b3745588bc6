import { compileRules } from '#engine/conditions/rules.js';
import { genericFaults, GENERIC_SCHEMES } from '#engine/inbound/generic.js';
import { presetOf } from '#engine/inbound/presets.js';
import { responseFaults, type ResponseSettings } from '#engine/inbound/response.js';
import type { Fault } from '#kernel/errors.js';
import type { EndpointEntity, ResponseProxySettings, TransformSettings } from './endpoints.entities.js';
import { PROXY_TIMEOUT_MS, TRANSFORM_TIMEOUT_MS } from './timeouts.js';

type Columns = Pick<EndpointEntity,
  'name' | 'preset' | 'verification' | 'verificationConfig' | 'responseRules' | 'responseProxy' | 'transform'>;

/** What a caller decides about an endpoint, apart from where it lives and where its events go; the response is open. */
export type Settings = Columns & { response: ResponseSettings | null };

/** What a caller changes: what is left out stays, null clears it, and null as `verification` is the default. */
export type SettingsChanges = {
  [K in keyof Settings]?: K extends 'name' ? string : K extends 'responseRules' | 'verificationConfig' ? object | null : Settings[K] | null
};

/** The settings that hold for whatever a new endpoint leaves out. */
export const DEFAULT_SETTINGS: Readonly<Omit<Settings, 'name'>> = Object.freeze({
  preset: null,
  verification: 'none',
  verificationConfig: null,
  responseRules: null,
  responseProxy: null,
  transform: null,
  response: null,
});

/** Settings of `response` that no answer shows, so that a change that leaves them out keeps them. */
export const RESPONSE_SECRETS = ['verifyToken', 'secret', 'verificationToken'] as const;

const BY_PRESET = 'preset';
const UNVERIFIED = 'none';

/** The settings after the changes, and every reason why they can't be. What needs the outside is for `CodeChecks`. */
export function changed(before: Settings, changes: SettingsChanges): { settings: Settings; faults: Fault[] } {
  const preset = changes.preset === undefined ? before.preset : changes.preset;
  const verification = verificationAfter(before, changes.verification, preset);
  const settings: Settings = {
    name: changes.name ?? before.name,
    preset,
    verification: verification ?? before.verification,
    verificationConfig: isGeneric(verification) ? objectAfter(before.verificationConfig, changes.verificationConfig) : null,
    responseRules: objectAfter(before.responseRules, changes.responseRules),
    responseProxy: changes.responseProxy === undefined ? before.responseProxy : withNormalUrl(changes.responseProxy),
    transform: changes.transform === undefined ? before.transform : withNormalUrl(changes.transform),
    response: changes.response === undefined ? before.response : responseAfter(before.response, changes.response),
  };
  return { settings, faults: [...verificationFaults(changes, verification, preset), ...configFaults(changes, settings)] };
}

/** The proxy's settings with what holds for everything that is left out. */
export function proxyInForce(settings: ResponseProxySettings): ResponseProxySettings {
  return { ...settings, timeoutMs: settings.timeoutMs ?? PROXY_TIMEOUT_MS[settings.target], onUnavailable: settings.onUnavailable ?? 'fallback' };
}

/** The transform's settings with what holds for everything that is left out. */
export function transformInForce(settings: TransformSettings): TransformSettings {
  return { ...settings, failMode: settings.failMode ?? 'closed', timeoutMs: settings.timeoutMs ?? TRANSFORM_TIMEOUT_MS[settings.engine] };
}

/**
 * Null when what is asked for is not to be had. A preset that appears begins to verify, and one that goes takes its
 * verification with it; a preset whose verification was switched off stays so.
 */
function verificationAfter(before: Settings, asked: string | null | undefined, preset: string | null): string | null {
  if (asked === undefined) {
    if (before.verification === BY_PRESET && preset === null) return UNVERIFIED;
    return before.verification === UNVERIFIED && before.preset === null && preset !== null ? BY_PRESET : before.verification;
  }
  if (asked === null) return preset === null ? UNVERIFIED : BY_PRESET;
  if (asked === UNVERIFIED || isGeneric(asked)) return asked;
  return preset !== null && (asked === BY_PRESET || asked === preset) ? BY_PRESET : null;
}

function verificationFaults(changes: SettingsChanges, verification: string | null, preset: string | null): Fault[] {
  const faults: Fault[] = [];
  if (typeof changes.preset === 'string' && presetOf(changes.preset) === null) {
    faults.push({ path: 'preset', message: 'is not known: see the documentation for the list' });
  }
  if (verification === null) {
    const byPreset = preset === null ? 'preset beside a preset' : `preset (or ${preset})`;
    faults.push({ path: 'verification', message: `must be one of none, ${byPreset}, ${GENERIC_SCHEMES.join(', ')}` });
  }
  const { verificationConfig: config } = changes;
  if (!config) return faults;
  if (!isGeneric(verification)) return [...faults, { path: 'verificationConfig', message: `is for ${GENERIC_SCHEMES.join(', ')} only` }];
  return [...faults, ...genericFaults(config, 'verificationConfig')];
}

/** Only of what the call changes: what was saved by an earlier version must not stand in the way of anything else. */
function configFaults(changes: SettingsChanges, { response }: Settings): Fault[] {
  const { responseRules, responseProxy, transform } = changes;
  const rules = responseRules ? compileRules(responseRules, 'responseRules') : null;
  return [
    ...(rules && 'faults' in rules ? rules.faults : []),
    ...(responseProxy ? hostFaults(responseProxy, responseProxy.target, 'responseProxy') : []),
    ...(transform ? hostFaults(transform, transform.engine, 'transform') : []),
    ...(changes.response ? responseFaults(response) : []),
  ];
}

/** What holds for a proxy and a transform alike: `managed` is code, and `url` is a URL. */
function hostFaults({ code, url }: ResponseProxySettings | TransformSettings, host: 'managed' | 'url', at: string): Fault[] {
  const [needed, other] = host === 'managed' ? ['code', 'url'] as const : ['url', 'code'] as const;
  const given = { code, url };
  const faults: Fault[] = [];
  if (given[needed] === undefined) faults.push({ path: `${at}.${needed}`, message: `is required for ${host}` });
  if (given[other] !== undefined) faults.push({ path: `${at}.${other}`, message: `is not for ${host}` });
  return faults;
}

/** Of the same type it keeps the secrets that it leaves out: nobody can have read them back. */
function responseAfter(before: ResponseSettings | null, given: ResponseSettings | null): ResponseSettings | null {
  if (given === null || before?.type !== given.type) return given;
  const kept = RESPONSE_SECRETS.filter((name) => given[name] === undefined && before[name] !== undefined);
  return { ...given, ...Object.fromEntries(kept.map((name) => [name, before[name]])) };
}

function objectAfter(before: Record<string, unknown> | null, given: object | null | undefined): Record<string, unknown> | null {
  return given === undefined ? before : given as Record<string, unknown> | null;
}

/** Kept and shown in the form in which it is called; what can't be parsed is refused by the checks. */
function withNormalUrl<T extends { url?: string }>(settings: T | null): T | null {
  if (settings?.url === undefined || !URL.canParse(settings.url)) return settings;
  return { ...settings, url: new URL(settings.url).href };
}

function isGeneric(verification: string | null): boolean {
  return GENERIC_SCHEMES.some((name) => name === verification);
}
