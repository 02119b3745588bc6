import { DEFAULT_LEGACY_SCHEME, type LegacyScheme } from '#engine/legacy-signature.js';
import { invalid } from '#kernel/errors.js';
import type {
  DeliverySettings,
  LegacySignatureSettings,
  ShownDeliverySettings,
} from '#modules/destinations/contract.js';
import type { DestinationEntity, RetrySettings } from './destinations.entities.js';
import type { RetryPolicies } from './retry-policies.js';
import type { SettingsChanges } from './settings.js';

/**
 * Converts delivery settings from the API's format to the format of a settings change. Throws 422 if the secret of the
 * legacy signature is empty or not valid in the given encoding (such as hex).
 */
export function deliveryChanges(given: DeliverySettings): SettingsChanges {
  const {
    headers,
    retry,
    rate_limit: rateLimit,
    timeout_ms: timeoutMs,
    concurrency,
    asymmetric,
    legacy_signature: legacy,
  } = given;
  return {
    headers,
    retry,
    rateLimit,
    timeoutMs,
    concurrency,
    asymmetric,
    legacySignature: legacy && legacyScheme(legacy),
    legacyKey: legacy ? legacyKey(legacy) : undefined,
  };
}

/** Returns the settings in effect in API format, without secrets. */
export function shownSettings(row: DestinationEntity, policies: RetryPolicies): ShownDeliverySettings {
  return {
    headers: row.headers,
    retry: shownRetry(row.retry, policies),
    rate_limit: row.rateLimit,
    timeout_ms: row.timeoutMs,
    concurrency: row.concurrency,
    asymmetric: row.asymmetric,
    legacy_signature: row.legacySignature && shownScheme(row.legacySignature),
  };
}

function shownRetry(retry: RetrySettings | null, policies: RetryPolicies): ShownDeliverySettings['retry'] {
  const { maxAttempts, scheduleSeconds } = policies.forSettings(retry);
  const unserved = policies.absence(retry);
  return {
    ...(retry?.policy !== undefined && { policy: retry.policy }),
    ...(unserved !== null && { policy_unserved: unserved }),
    max_attempts: maxAttempts,
    schedule: [...scheduleSeconds],
  };
}

function legacyScheme({
  header,
  algorithm,
  encoding,
  content,
  format,
  timestamp_header,
  id_header,
}: LegacySignatureSettings): LegacyScheme {
  const preset = DEFAULT_LEGACY_SCHEME;
  return {
    header,
    algorithm: algorithm ?? preset.algorithm,
    encoding: encoding ?? preset.encoding,
    content: content ?? preset.content,
    format: format ?? preset.format,
    timestampHeader: timestamp_header ?? null,
    idHeader: id_header ?? null,
  };
}

function shownScheme({
  timestampHeader,
  idHeader,
  ...scheme
}: LegacyScheme): NonNullable<ShownDeliverySettings['legacy_signature']> {
  return { ...scheme, timestamp_header: timestampHeader, id_header: idHeader };
}

/** Returns the bytes of a new secret, or `undefined` to keep the stored secret. */
function legacyKey({ secret, secret_encoding: encoding }: LegacySignatureSettings): Buffer | undefined {
  if (secret === undefined) {
    if (encoding === undefined) return undefined;
    throw invalid([
      { path: 'legacy_signature.secret_encoding', message: 'gives the encoding of a new secret, and there is none' },
    ]);
  }
  const key = Buffer.from(secret, encoding ?? 'utf8');
  // When decoding, Node.js skips invalid characters. Encoding the result again reveals whether any were skipped.
  const isWhole =
    key.length > 0 &&
    (encoding === 'hex' ? key.length * 2 === secret.length : key.toString(encoding ?? 'utf8') === secret);
  if (!isWhole)
    throw invalid([{ path: 'legacy_signature.secret', message: `must be ${encoding ?? 'utf8'}, and not empty` }]);
  return key;
}
