import type { EgressAgent } from '#egress/agent.js';
import type { NameRecords } from '#egress/name-records.js';
import { announcedPolicy, type MtaStsPolicy, readPolicy } from '#engine/mail/mta-sts.js';

const FETCH_MS_MAX = 10_000;
const POLICY_BYTES_MAX = 64 * 1024;
const DOMAINS_MAX = 5_000;
/** Pause after a failed fetch of a policy, as RFC 8461, section 3.3 recommends. */
const AGAIN_MS = 300_000;

interface Known {
  /** Policy id that the DNS record announced when the policy was fetched. */
  id: string;
  policy: MtaStsPolicy | null;
  untilMs: number;
  /** Earliest time at which a failed fetch of the announced policy is retried. */
  askAgainMs: number;
}

/**
 * MTA-STS policies of domains (RFC 8461), fetched over HTTPS under the egress policy and cached for the time that they
 * specify. A valid cached policy stays in use if its announcement disappears or its new text cannot be fetched.
 * Otherwise a man in the middle could remove the policy.
 */
export class MtaStsPolicies {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly agent: Pick<EgressAgent, 'exchange'>,
    private readonly records: Pick<NameRecords, 'txt'>,
    private readonly monotonicMs: () => number = () => performance.now(),
  ) {}

  /** Returns the policy that applies now, or null. Never throws. */
  async findByDomain(domain: string): Promise<MtaStsPolicy | null> {
    const announced = await this.records.txt(`_mta-sts.${domain}`, domain);
    const id = 'found' in announced ? announcedPolicy(announced.found) : null;
    const nowMs = this.monotonicMs();
    const known = this.known.get(domain);
    const held = known !== undefined && known.untilMs > nowMs ? known.policy : null;
    if (
      id === null ||
      (known?.id === id && (held !== null || known.askAgainMs > nowMs)) ||
      (known !== undefined && known.askAgainMs > nowMs)
    )
      return held;
    const policy = await this.published(domain);
    if (policy === null)
      this.keep(domain, {
        id: known?.id ?? id,
        policy: held,
        untilMs: held === null ? 0 : (known?.untilMs ?? 0),
        askAgainMs: nowMs + AGAIN_MS,
      });
    else this.keep(domain, { id, policy, untilMs: nowMs + policy.maxAgeSeconds * 1000, askAgainMs: 0 });
    return policy ?? held;
  }

  /** Returns the published policy, or null. Verifies the certificate, and follows no redirects (RFC 8461, 3.3). */
  private async published(domain: string): Promise<MtaStsPolicy | null> {
    const url = new URL(`https://mta-sts.${domain}/.well-known/mta-sts.txt`);
    const answer = await this.agent.exchange({
      method: 'GET',
      url,
      headers: { accept: 'text/plain' },
      body: null,
      timeoutMs: FETCH_MS_MAX,
      bodyBytesMax: POLICY_BYTES_MAX,
    });
    if (
      answer.kind === 'error' ||
      answer.status !== 200 ||
      answer.truncated ||
      !/^text\/plain\b/i.test(answer.headers['content-type'] ?? '')
    )
      return null;
    return readPolicy(answer.body.toString('utf8'));
  }

  private keep(domain: string, known: Known): void {
    this.known.delete(domain);
    this.known.set(domain, known);
    const [first] = this.known.keys();
    if (this.known.size > DOMAINS_MAX && first !== undefined) this.known.delete(first);
  }
}
