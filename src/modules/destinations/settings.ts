import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_CIRCUIT_POLICY } from '#engine/circuit.js';
import { forwardedHeaderFaults } from '#engine/headers.js';
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
>;

/** The `retry` field as the caller sends it. A `policy` of `null` removes the policy. */
export type RetryChanges = Omit<RetrySettings, 'policy'> & { policy?: string | null };

/** Omitted fields keep their value. `null` restores the default. */
export type SettingsChanges = {
  [K in keyof Omit<Settings, 'retry'>]?: Settings[K] | (K extends 'name' ? never : null);
} & {
  retry?: RetryChanges | null;
  /** A new key for the legacy signature. It is not part of the settings, because it is never returned. */
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
});

export function changed(settings: Settings, changes: SettingsChanges): Settings {
  const { url, config, headers, retry, rateLimit, timeoutMs, concurrency, asymmetric, legacySignature } = changes;
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
  };
}

/** Omitted members keep the stored value. A policy replaces the numbers, and a null policy removes the policy. */
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
  return { name, url, config, headers, retry, rateLimit, timeoutMs, concurrency, asymmetric, legacySignature };
}

/** True if the target must be probed again: its address or the connection settings of its type have changed. */
export function movesTarget(before: Settings, after: Settings): boolean {
  return before.url !== after.url || !isDeepStrictEqual(adapterConfig(before.config), adapterConfig(after.config));
}

/** Returns errors that do not depend on the adapter. Headers are checked as far as possible without secret values. */
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

/** Returns the config without the circuit breaker, which Posthorn handles itself for all types. */
export function adapterConfig(config: Record<string, unknown>): Record<string, unknown> {
  const { circuit_breaker: _ours, ...theirs } = config;
  return theirs;
}

/** Number of consecutive hard failures that opens the circuit. Expects a valid config. */
export function failureThreshold(config: Record<string, unknown>): number {
  const breaker = config.circuit_breaker as { failure_threshold?: number } | null | undefined;
  return breaker?.failure_threshold ?? DEFAULT_CIRCUIT_POLICY.failureThreshold;
}

/** Without `max_attempts`, the length of the schedule is the number of attempts. */
export function retryPolicy(retry: RetrySettings | null): RetryPolicy {
  const { schedule, max_attempts: maxAttempts } = retry ?? {};
  return {
    maxAttempts: maxAttempts ?? schedule?.length ?? DEFAULT_RETRY_POLICY.maxAttempts,
    scheduleSeconds: schedule ?? DEFAULT_RETRY_POLICY.scheduleSeconds,
  };
}

/** Normalizes a URL to the form in which it is called. The adapter rejects text that is not a URL. */
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
