import type { Id } from '#kernel/ids.js';

/** On whose behalf something is fetched. */
export interface Asker {
  organizationId: Id;
  endpointId: Id;
}

const MINUTE_MS = 60_000;
/** Of one process in a minute. Providers rotate certificates once in months; whoever needs more is being lied to. */
const ENDPOINT_MAX = 10;
const ORGANIZATION_MAX = 40;
const TOTAL_MAX = 240;
/** Of the total, what is for organizations that have hardly had any. */
const FOR_OTHERS = 80;
const HARDLY_ANY = 2;

/**
 * How much may be fetched because a request names it. Whoever sends names the URLs, on hosts of the provider: they are not to be
 * flooded through us, and what one sender invents must not be at the cost of another tenant.
 */
export class DownloadBudget {
  private minuteEndsMs = -Infinity;
  private total = 0;
  private readonly had = new Map<string, number>();

  /** Whether one more may be fetched; takes it then. */
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
