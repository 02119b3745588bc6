import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { isCertificate } from '#engine/inbound/verify.js';
import { Clock } from '#kernel/clock.js';
import type { Id } from '#kernel/ids.js';
import { USER_AGENT } from '#kernel/version.js';
import { ProviderCertificates } from './certificates.contract.js';
import { type Asker, DownloadBudget } from './download-budget.js';

/** A text that a provider publishes. */
export interface Published {
  text: string;
  /** How long ago it was fetched. */
  ageMs: number;
}

interface Kept {
  text: string;
  sinceMs: number;
  /** Who brought it in. */
  organizationId: Id;
}

const FRESH_MS = 3_600_000;
/** While it can't be fetched again, what was fetched last stands in: for an outage, and not for as long as somebody keeps us from seeing that a key was taken back. */
const STALE_MS = 6 * 3_600_000;
/** What could not be fetched is tried again after so long; what stands in meanwhile can wait longer. */
const FAILED_MS = 10_000;
const FAILED_AGAIN_MS = 60_000;
const KEPT_MAX = 500;
const FAILED_MAX = 1_000;
const TIMEOUT_MS = 5_000;
const BYTES_MAX = 64 * 1024;
/** Nobody's id: what the operator's own notifications ask for counts by itself. */
const OPERATOR: Asker = { organizationId: 'operator', endpointId: 'operator' };

/**
 * Certificates and sets of keys that providers publish, fetched once an hour. Which URLs are a provider's own is decided by who asks.
 * Ages are of the monotonic clock: nothing here leaves the process.
 */
@Injectable()
export class Certificates extends ProviderCertificates {
  private readonly budget = new DownloadBudget();
  /** The one that was used last comes last. */
  private readonly kept = new Map<string, Kept>();
  /** Until when what could not be fetched is not tried again. */
  private readonly failed = new Map<string, number>();
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async ofOperator(url: string): Promise<string | undefined> {
    return (await this.get(url, OPERATOR, isCertificate))?.text;
  }

  /**
   * The text there, fetched again when it is older than `maxAgeMs`; where that is not possible right now, the older one, for six hours.
   * Undefined when there is none. What is no answer of use (`isUsable`) never takes the place of one that is.
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

  /** What is fetched anew costs whoever asks; what is known is looked at again at a pace that nobody can force. */
  private mayFetch(url: string, asker: Asker): boolean {
    if (this.underWay.has(url)) return true;
    const nowMs = this.clock.monotonicMs();
    if ((this.failed.get(url) ?? -Infinity) > nowMs) return false;
    return this.kept.has(url) || this.budget.spend(asker, nowMs);
  }

  /** One download at a time of each URL, whoever waits for it. */
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

  /** At the cost of who has most here, what was used longest ago: nobody's many take away the few of another. */
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
