import type { Target } from '#modules/destinations/contract.js';
import { normalizeForwardedHeaders } from '#engine/headers.js';
import type { DestinationEntity } from './destinations.entities.js';
import { adapterConfig, failureThreshold, retryPolicy } from './settings.js';

/** What of a stored destination is sealed, opened. */
export interface Opened extends Pick<Target, 'signingKeys' | 'credentials'> {
  /** With the values of their secrets. */
  headers: Readonly<Record<string, string>>;
}

/** A stored destination as deliveries see it. */
export function targetOf(row: DestinationEntity, { signingKeys, credentials, headers }: Opened): Target {
  return {
    environmentId: row.environmentId,
    targetId: row.id,
    destinationId: row.id,
    type: row.type,
    url: row.url !== null && URL.canParse(row.url) ? new URL(row.url) : null,
    config: adapterConfig(row.config),
    credentials,
    status: row.status,
    disabledReason: row.disabledReason,
    signingKeys,
    headers: normalizeForwardedHeaders(headers),
    retry: retryPolicy(row.retry),
    ratePerSecond: row.rateLimit?.per_second ?? null,
    timeoutMs: row.timeoutMs,
    failureThreshold: failureThreshold(row.config),
  };
}
