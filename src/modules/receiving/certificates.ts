import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { Clock } from '#kernel/clock.js';

const KEPT_MS = 3_600_000;
const FAILED_MS = 10_000;
const KEPT_MAX = 100;
const TIMEOUT_MS = 5_000;
const BYTES_MAX = 64 * 1024;
const DOWNLOADS_PER_MINUTE_MAX = 120;

/** Certificates and sets of keys that providers publish, fetched once an hour. Which URLs are a provider's own is decided by who asks. */
@Injectable()
export class Certificates {
  private minuteEndsMs = 0;
  private downloads = 0;
  private readonly kept = new Map<string, { pem: Promise<string | undefined>; sinceMs: number; untilMs: number }>();

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly clock: Clock,
  ) {}

  /** The text there, at most so old; undefined when it can't be had, which is tried again after ten seconds. */
  async get(url: string, maxAgeMs = KEPT_MS): Promise<string | undefined> {
    const known = this.kept.get(url);
    const nowMs = this.clock.nowMs();
    if (known && known.untilMs > nowMs && known.sinceMs + maxAgeMs > nowMs) return known.pem;
    if (!this.mayDownload(nowMs)) return known?.pem;
    const entry = { pem: this.download(url), sinceMs: nowMs, untilMs: nowMs + KEPT_MS };
    this.kept.delete(url);
    this.kept.set(url, entry);
    const oldest = this.kept.keys().next();
    if (this.kept.size > KEPT_MAX && !oldest.done) this.kept.delete(oldest.value);
    const pem = await entry.pem;
    if (pem === undefined) entry.untilMs = this.clock.nowMs() + FAILED_MS;
    return pem;
  }

  /** Whoever sends names the URLs, on hosts of the provider: they are not to be flooded through us. */
  private mayDownload(nowMs: number): boolean {
    if (nowMs >= this.minuteEndsMs) {
      this.minuteEndsMs = nowMs + 60_000;
      this.downloads = 0;
    }
    this.downloads += 1;
    return this.downloads <= DOWNLOADS_PER_MINUTE_MAX;
  }

  private async download(url: string): Promise<string | undefined> {
    const verdict = this.gate.check(url);
    if (!verdict.ok) return undefined;
    const headers = { 'user-agent': 'Posthorn/0.1' };
    const answer = await this.agent.exchange({ method: 'GET', url: verdict.url, headers, body: null, timeoutMs: TIMEOUT_MS, bodyBytesMax: BYTES_MAX });
    return answer.kind === 'response' && answer.status === 200 && !answer.truncated ? answer.body.toString() : undefined;
  }
}
