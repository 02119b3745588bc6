import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { isPem } from '#engine/inbound/keys.js';
import { Clock } from '#kernel/clock.js';
import type { Id } from '#kernel/ids.js';
import { USER_AGENT } from '#kernel/version.js';
import { type Asker, DownloadBudget } from './download-budget.js';

export interface Published {
  text: string;
  /** Time since the certificate or key set was downloaded. */
  ageMs: number;
}

interface Kept {
  text: string;
  sinceMs: number;
  /** Organization whose request triggered the download. */
  organizationId: Id;
}

const FRESH_MS = 3_600_000;
/**
 * Maximum age of a cached certificate or key set. It bridges most outages of providers, but limits how long a revoked
 * key is used.
 */
const STALE_MS = 6 * 3_600_000;
/**
 * Delay before a failed download is repeated. `FAILED_AGAIN_MS` applies while a cached certificate or key set can be
 * used.
 */
const FAILED_MS = 10_000;
const FAILED_AGAIN_MS = 60_000;
const KEPT_MAX = 500;
const FAILED_MAX = 1_000;
const TIMEOUT_MS = 5_000;
const BYTES_MAX = 64 * 1024;
/** Stands for the operator as the requester of a download. The operator's downloads have a separate limit. */
const OPERATOR: Asker = { organizationId: 'operator', endpointId: 'operator' };

/**
 * Downloads and caches the certificates and key sets that providers publish. Downloads a cached one again after an
 * hour, or earlier if the caller needs a newer one. The caller decides which URLs belong to a provider. Ages use the
 * monotonic clock, because they are not shared between processes.
 */
@Injectable()
export class Certificates {
  private readonly budget = new DownloadBudget();
  /** Cached certificates and key sets by URL, ordered by last use, most recent last. */
  private readonly kept = new Map<string, Kept>();
  /** Times before which failed downloads are not tried again, by URL. */
  private readonly failed = new Map<string, number>();
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the certificate at the URL, or undefined if it is currently unavailable. Uses the same cache as endpoints,
   * but a separate download budget. Outbound address checks apply. The caller must make sure that the URL belongs to
   * the provider.
   */
  async ofOperator(url: string): Promise<string | undefined> {
    return (await this.get(url, OPERATOR, isPem))?.text;
  }

  /**
   * Returns the certificate or key set at the URL. Downloads it if the cached one is older than `maxAgeMs`. If the
   * download fails, returns the cached one for up to six hours, otherwise undefined. A download that is not `isUsable`
   * never replaces a cached one.
   */
  async get(
    url: string,
    asker: Asker,
    isUsable: (text: string) => boolean,
    maxAgeMs = FRESH_MS,
  ): Promise<Published | undefined> {
    const known = this.kept.get(url);
    if ((known === undefined || this.ageOf(known) >= maxAgeMs) && this.mayFetch(url, asker))
      await this.fetched(url, asker, isUsable);
    return this.inForce(url);
  }

  private inForce(url: string): Published | undefined {
    const known = this.kept.get(url);
    if (known === undefined || this.ageOf(known) >= STALE_MS) return undefined;
    this.kept.delete(url);
    this.kept.set(url, known);
    return { text: known.text, ageMs: this.ageOf(known) };
  }

  /**
   * Returns whether a download may start. Only downloads of URLs that are not cached count toward the limit of the
   * requester.
   */
  private mayFetch(url: string, asker: Asker): boolean {
    if (this.underWay.has(url)) return true;
    const nowMs = this.clock.monotonicMs();
    if ((this.failed.get(url) ?? -Infinity) > nowMs) return false;
    return this.kept.has(url) || this.budget.spend(asker, nowMs);
  }

  /** Downloads the URL once for all concurrent callers. */
  private fetched(url: string, asker: Asker, isUsable: (text: string) => boolean): Promise<void> {
    const running =
      this.underWay.get(url) ?? this.refresh(url, asker, isUsable).finally(() => this.underWay.delete(url));
    this.underWay.set(url, running);
    return running;
  }

  private async refresh(url: string, { organizationId }: Asker, isUsable: (text: string) => boolean): Promise<void> {
    const sinceMs = this.clock.monotonicMs();
    const text = await this.download(url);
    this.failed.delete(url);
    if (text === undefined || !isUsable(text)) {
      this.failed.set(url, this.clock.monotonicMs() + (this.kept.has(url) ? FAILED_AGAIN_MS : FAILED_MS));
      dropFirst(this.failed, FAILED_MAX);
      return;
    }
    this.kept.delete(url);
    this.kept.set(url, { text, sinceMs, organizationId });
    if (this.kept.size > KEPT_MAX) this.makeRoom();
  }

  /**
   * Evicts an entry of the organization with the most cache entries, so that no organization can displace the entries
   * of others.
   */
  private makeRoom(): void {
    const held = new Map<Id, number>();
    for (const { organizationId } of this.kept.values()) held.set(organizationId, (held.get(organizationId) ?? 0) + 1);
    const most = Math.max(...held.values());
    for (const [url, { organizationId }] of this.kept) {
      if (held.get(organizationId) === most) return void this.kept.delete(url);
    }
  }

  private ageOf({ sinceMs }: Kept): number {
    return this.clock.monotonicMs() - sinceMs;
  }

  private async download(url: string): Promise<string | undefined> {
    const verdict = this.gate.check(url);
    if (!verdict.ok) return undefined;
    const headers = { 'user-agent': USER_AGENT };
    const answer = await this.agent.exchange({
      method: 'GET',
      url: verdict.url,
      headers,
      body: null,
      timeoutMs: TIMEOUT_MS,
      bodyBytesMax: BYTES_MAX,
    });
    return answer.kind === 'response' && answer.status === 200 && !answer.truncated
      ? answer.body.toString()
      : undefined;
  }
}

function dropFirst(map: Map<string, unknown>, max: number): void {
  const first = map.keys().next();
  if (map.size > max && !first.done) map.delete(first.value);
}
