import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_CIRCUIT_POLICY } from '#engine/circuit.js';
import { forwardedHeaderFaults } from '#engine/headers.js';
import { DEFAULT_FORWARDING, type Forwarding } from '#engine/inbound/forwarded-url.js';
import { legacySchemeFaults } from '#engine/legacy-signature.js';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '#engine/retry.js';
import type { Fault } from '#kernel/errors.js';
import type { DestinationEntity, RetrySettings } from './destinations.entities.js';

export type Settings = Pick<
  DestinationEntity,
  | 'name'
  | 'url'
  | 'config'
  | 'headers'
  | 'retry'
  | 'rateLimit'
  | 'timeoutMs'
  | 'concurrency'
  | 'asymmetric'
  | 'legacySignature'
  | 'forward'
>;

/** The `retry` field as the caller sends it. `policy: null` removes the policy. */
export type RetryChanges = Omit<RetrySettings, 'policy'> & { policy?: string | null };

/** Changes to settings. Omitted fields keep their value. `null` restores the default. */
export type SettingsChanges = {
  [K in keyof Omit<Settings, 'retry' | 'forward'>]?: Settings[K] | (K extends 'name' ? never : null);
} & {
  retry?: RetryChanges | null;
  /** Changes to `forward`. Omitted fields keep their value. */
  forward?: Partial<Forwarding> | null;
  /** New key for the legacy signature. Kept apart from the settings, because the API never returns the key. */
  legacyKey?: Buffer;
};

const TIMEOUT_MS_DEFAULT = 15_000;
const FAILURE_THRESHOLD_MAX = 1000;

export const DEFAULT_SETTINGS: Readonly<Omit<Settings, 'name'>> = Object.freeze({
  url: null,
  config: {},
  headers: {},
  retry: null,
  rateLimit: null,
  timeoutMs: TIMEOUT_MS_DEFAULT,
  concurrency: null,
  asymmetric: false,
  legacySignature: null,
  forward: null,
});

export function changed(settings: Settings, changes: SettingsChanges): Settings {
  const { url, config, headers, retry, rateLimit, timeoutMs, concurrency, asymmetric, legacySignature, forward } =
    changes;
  return {
    name: changes.name ?? settings.name,
    url: url === undefined ? settings.url : url && normalUrl(url),
    config: config === undefined ? settings.config : (config ?? DEFAULT_SETTINGS.config),
    headers: headers === undefined ? settings.headers : (headers ?? DEFAULT_SETTINGS.headers),
    retry: retry ? mergedRetry(settings.retry, retry) : retry === undefined ? settings.retry : null,
    rateLimit: rateLimit === undefined ? settings.rateLimit : rateLimit,
    timeoutMs: timeoutMs === undefined ? settings.timeoutMs : (timeoutMs ?? DEFAULT_SETTINGS.timeoutMs),
    concurrency: concurrency === undefined ? settings.concurrency : concurrency,
    asymmetric: asymmetric === undefined ? settings.asymmetric : (asymmetric ?? DEFAULT_SETTINGS.asymmetric),
    legacySignature: legacySignature === undefined ? settings.legacySignature : legacySignature,
    forward: forward
      ? { ...(settings.forward ?? DEFAULT_FORWARDING), ...forward }
      : forward === undefined
        ? settings.forward
        : null,
  };
}

/**
 * Returns the changed retry settings. A new policy replaces the stored `max_attempts` and `schedule`. `policy: null`
 * removes the policy.
 */
function mergedRetry(
  before: RetrySettings | null,
  { policy, max_attempts: maxAttempts, schedule }: RetryChanges,
): RetrySettings {
  const numbers = {
    ...(maxAttempts !== undefined && { max_attempts: maxAttempts }),
    ...(schedule !== undefined && { schedule }),
  };
  if (typeof policy === 'string') return { policy, ...numbers };
  const { policy: followed, ...own } = before ?? {};
  return { ...(policy === undefined && followed !== undefined && { policy: followed }), ...own, ...numbers };
}

export function settingsOf(row: Settings): Settings {
  const { name, url, config, headers, retry, rateLimit, timeoutMs, concurrency, asymmetric, legacySignature } = row;
  const { forward } = row;
  return { name, url, config, headers, retry, rateLimit, timeoutMs, concurrency, asymmetric, legacySignature, forward };
}

/** Returns true if the target must be probed again, because its URL, `forward.path` or connection settings changed. */
export function movesTarget(before: Settings, after: Settings): boolean {
  return (
    before.url !== after.url ||
    (before.forward?.path ?? false) !== (after.forward?.path ?? false) ||
    !isDeepStrictEqual(adapterConfig(before.config), adapterConfig(after.config))
  );
}

/** Returns an error if `forward` is set for a type other than `https`. Only `https` deliveries copy request parts. */
export function forwardFaults(type: string, { forward }: Settings): Fault[] {
  if (forward === null || type === 'https') return [];
  return [{ path: 'forward', message: `is for destinations of type https. This one is of type ${type}.` }];
}

/** Returns errors that do not depend on the adapter. Checks headers before the values of secrets are inserted. */
export function settingsFaults({ headers, config, legacySignature, retry }: Settings): Fault[] {
  const legacyFaults = legacySignature ? legacySchemeFaults(legacySignature, headers) : [];
  return [
    ...forwardedHeaderFaults(headers),
    ...legacyFaults,
    ...circuitBreakerFaults(config.circuit_breaker),
    ...retryFaults(retry),
  ];
}

function retryFaults(retry: RetrySettings | null): Fault[] {
  if (retry?.policy === undefined || (retry.max_attempts === undefined && retry.schedule === undefined)) return [];
  return [
    {
      path: 'retry.policy',
      message: `has numbers of its own: give "${retry.policy}" alone, or max_attempts and schedule with a policy of null`,
    },
  ];
}

/** Returns the config without `circuit_breaker`, which Posthorn itself evaluates for every type. */
export function adapterConfig(config: Record<string, unknown>): Record<string, unknown> {
  const { circuit_breaker: _ours, ...theirs } = config;
  return theirs;
}

/** Returns the number of consecutive hard failures that opens the circuit breaker. Expects a valid config. */
export function failureThreshold(config: Record<string, unknown>): number {
  const breaker = config.circuit_breaker as { failure_threshold?: number } | null | undefined;
  return breaker?.failure_threshold ?? DEFAULT_CIRCUIT_POLICY.failureThreshold;
}

/** Returns the retry policy of the settings. The default for `max_attempts` is the length of the schedule. */
export function retryPolicy(retry: RetrySettings | null): RetryPolicy {
  const { schedule, max_attempts: maxAttempts } = retry ?? {};
  return {
    maxAttempts: maxAttempts ?? schedule?.length ?? DEFAULT_RETRY_POLICY.maxAttempts,
    scheduleSeconds: schedule ?? DEFAULT_RETRY_POLICY.scheduleSeconds,
  };
}

/** Returns the URL in normalized form. Text that is not a URL stays unchanged, and the adapter then rejects it. */
function normalUrl(text: string): string {
  return URL.canParse(text) ? new URL(text).href : text;
}

function circuitBreakerFaults(breaker: unknown): Fault[] {
  if (breaker === undefined || breaker === null) return [];
  if (typeof breaker !== 'object' || Array.isArray(breaker))
    return [{ path: 'config.circuit_breaker', message: 'must be an object' }];
  const { failure_threshold: threshold, ...unknown } = breaker as Record<string, unknown>;
  const faults = Object.keys(unknown).map((key) => ({
    path: `config.circuit_breaker.${key}`,
    message: 'is not known',
  }));
  const isInRange = Number.isInteger(threshold) && Number(threshold) >= 1 && Number(threshold) <= FAILURE_THRESHOLD_MAX;
  if (threshold !== undefined && !isInRange) {
    faults.push({
      path: 'config.circuit_breaker.failure_threshold',
      message: `must be a whole number from 1 to ${FAILURE_THRESHOLD_MAX}`,
    });
  }
  return faults;
}
