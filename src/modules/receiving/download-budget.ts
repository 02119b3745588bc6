import type { Id } from '#kernel/ids.js';

export interface Asker {
  organizationId: Id;
  endpointId: Id;
}

const MINUTE_MS = 60_000;
/** Downloads per process and minute. Certificates rotate every few months, so only forged requests need more. */
const ENDPOINT_MAX = 10;
const ORGANIZATION_MAX = 40;
const TOTAL_MAX = 240;
/** Number of downloads that only organizations with fewer than `HARDLY_ANY` downloads may use. */
const FOR_OTHERS = 80;
const HARDLY_ANY = 2;

/**
 * Limits the downloads that requests trigger, because senders choose the URLs. Protects the provider's hosts from
 * floods, and other tenants from one sender's invented URLs.
 */
export class DownloadBudget {
  private minuteEndsMs = -Infinity;
  private total = 0;
  private readonly had = new Map<string, number>();

  spend({ organizationId, endpointId }: Asker, nowMs: number): boolean {
    if (nowMs >= this.minuteEndsMs) {
      this.minuteEndsMs = nowMs + MINUTE_MS;
      this.total = 0;
      this.had.clear();
    }
    const [endpoint, organization] = [`endpoint ${endpointId}`, `organization ${organizationId}`];
    const hadMuch = this.hadBy(organization) >= HARDLY_ANY;
    if (this.hadBy(endpoint) >= ENDPOINT_MAX || this.hadBy(organization) >= ORGANIZATION_MAX) return false;
    if (this.total >= TOTAL_MAX - (hadMuch ? FOR_OTHERS : 0)) return false;
    for (const who of [endpoint, organization]) this.had.set(who, this.hadBy(who) + 1);
    this.total += 1;
    return true;
  }

  private hadBy(who: string): number {
    return this.had.get(who) ?? 0;
  }
}
