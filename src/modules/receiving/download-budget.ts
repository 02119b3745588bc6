import type { Id } from '#kernel/ids.js';

export interface Asker {
  organizationId: Id;
  endpointId: Id;
}

const MINUTE_MS = 60_000;
/** Maximum downloads per minute for one endpoint. Genuine requests need fewer. */
const ENDPOINT_MAX = 10;
/** Maximum downloads per minute for one organization. */
const ORGANIZATION_MAX = 40;
/** Maximum downloads per minute for this process. */
const TOTAL_MAX = 240;
/** Part of `TOTAL_MAX` that is reserved for organizations that made fewer than `HARDLY_ANY` downloads in the minute. */
const FOR_OTHERS = 80;
const HARDLY_ANY = 2;

/**
 * Limits the downloads that requests trigger, because senders choose the URLs. Protects providers' hosts from floods. A
 * sender of invented URLs cannot use up the downloads of other tenants.
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
