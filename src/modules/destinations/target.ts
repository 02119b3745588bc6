import { normalizeForwardedHeaders } from '#engine/headers.js';
import { DEFAULT_FORWARDING } from '#engine/inbound/forwarded-url.js';
import type { Target } from '#modules/destinations/contract.js';
import type { OpenedKeys, SigningKeys } from './destination-secrets.js';
import type { DestinationEntity } from './destinations.entities.js';
import { secretNames } from './header-templates.js';
import { adapterConfig, failureThreshold } from './settings.js';

export interface Opened extends Pick<Target, 'credentials' | 'retry'> {
  keys: OpenedKeys;
  /** Headers with secret references replaced by the secrets' values. */
  headers: Readonly<Record<string, string>>;
}

/** Returns the target of a destination row. On every access, its signing keys are selected by the current time. */
export function targetOf(
  row: DestinationEntity,
  { keys, credentials, headers, retry }: Opened,
  nowMs: () => number,
): Target {
  const signing = (): SigningKeys => (keys.both !== null && keys.graceUntilMs > nowMs() ? keys.both : keys.current);
  return {
    environmentId: row.environmentId,
    targetId: row.id,
    destinationId: row.id,
    ownerId: row.ownerId,
    type: row.type,
    url: row.url !== null && URL.canParse(row.url) ? new URL(row.url) : null,
    config: adapterConfig(row.config),
    credentials,
    status: row.status,
    disabledReason: row.disabledReason,
    get signingKeys() {
      return signing().signingKeys;
    },
    get privateKeys() {
      return signing().privateKeys;
    },
    legacySignature: keys.legacySignature,
    headers: normalizeForwardedHeaders(headers),
    secretHeaders: new Set(
      Object.entries(row.headers)
        .filter(([, template]) => secretNames({ template }).length > 0)
        .map(([name]) => name.toLowerCase()),
    ),
    forward: row.forward ?? DEFAULT_FORWARDING,
    retry,
    ratePerSecond: row.rateLimit?.per_second ?? null,
    concurrency: row.concurrency,
    timeoutMs: row.timeoutMs,
    failureThreshold: failureThreshold(row.config),
  };
}
