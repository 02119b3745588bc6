import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { withoutConfigured } from '#engine/headers.js';
import { endToEndHeaders, HOPS_HEADER, hopsOf } from '#engine/inbound/forward.js';
import { forwardedUrl, UNSAFE_PATH } from '#engine/inbound/forwarded-url.js';
import type { Fault } from '#kernel/errors.js';
import {
  Adapter,
  type DeliveryAnswer,
  DestinationAdapter,
  type Draft,
  type MirroredRequest,
  type Outgoing,
  type ProbeReport,
  type Target,
  Withheld,
} from '#modules/destinations/contract.js';
import { ANSWER_BYTES_MAX, deliveryAnswerOf, draftFaults, isBodiless, NO_URL } from './http-destination.js';
import { OwnHost } from './own-host.js';
import { Probe } from './probe.js';

const LOOP =
  "The URL is on one of this service's own ingest domains, which would cause a loop. Use a URL of another service.";
const EVERYTHING = { path: true, query: true };

/**
 * Forwards received requests unchanged and unsigned, so that the provider's own signature still verifies at the target.
 */
@Adapter()
export class MirrorAdapter extends DestinationAdapter {
  override readonly type = 'mirror';
  override readonly pulled = false;

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly ownHost: OwnHost,
    private readonly prober: Probe,
  ) {
    super();
  }

  override check(draft: Draft): Fault[] {
    return draftFaults(draft, {
      gate: this.gate,
      noCredentials: 'A mirror destination takes no credentials.',
      loopFault: (url) => (this.ownHost.is(url) ? LOOP : null),
    });
  }

  override probe({ url }: Draft): Promise<ProbeReport> {
    return this.prober.run(url ?? '');
  }

  /** An event that was sent through the API has no received request to mirror, so its payload is posted as JSON. */
  override async deliver(outgoing: Outgoing, target: Target): Promise<DeliveryAnswer> {
    if (target.url === null) return NO_URL;
    const request = await outgoing.request();
    const url = request ? forwardedUrl(target.url, request, EVERYTHING) : target.url;
    if (url === null) return { answer: { kind: 'error', error: 'refused' }, durationMs: 0, excerpt: UNSAFE_PATH };
    let isWithheld = false;
    const answer = await this.agent.exchange({
      method: request?.method ?? 'POST',
      url,
      headers: request
        ? mirroredHeaders(request, outgoing, target)
        : { ...target.headers, 'content-type': 'application/json' },
      body: request ? bodyOf(request) : outgoing.body,
      timeoutMs: target.timeoutMs,
      bodyBytesMax: ANSWER_BYTES_MAX,
      mayBegin: () => !(isWithheld = !outgoing.mayBegin()),
    });
    if (isWithheld) throw new Withheld();
    // The stored exchange omits the received body, because it is stored and erased with the received request.
    const method = request?.method ?? 'POST';
    return deliveryAnswerOf(answer, { method, url: target.url, headers: target.headers });
  }
}

/** Returns the headers without connection-specific ones. The destination's own headers override the received ones. */
export function mirroredHeaders(
  { headers }: Pick<MirroredRequest, 'headers'>,
  { replayed, traceparent }: Pick<Outgoing, 'replayed' | 'traceparent'>,
  target: Pick<Target, 'headers'>,
): Record<string, string> {
  const hops = hopsOf(headers.find(([name]) => name === HOPS_HEADER)?.[1]) + 1;
  const ours: Record<string, string> = { [HOPS_HEADER]: String(hops) };
  if (replayed) ours['webhook-replayed'] = 'true';
  if (traceparent !== null) ours['traceparent'] = traceparent;
  return { ...withoutConfigured(endToEndHeaders(headers), target.headers), ...target.headers, ...ours };
}

function bodyOf({ method, body }: MirroredRequest): Buffer | null {
  return body.length === 0 && isBodiless(method) ? null : body;
}
