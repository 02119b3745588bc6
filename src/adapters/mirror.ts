import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { withoutConfigured } from '#engine/headers.js';
import { HOPS_HEADER, hopsOf } from '#engine/inbound/forward.js';
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
import { ANSWER_BYTES_MAX, deliveryAnswerOf, draftFaults, NO_URL } from './http-destination.js';
import { OwnHost } from './own-host.js';
import { Probe } from './probe.js';

const LOOP =
  "The URL is on one of this service's own ingest domains, which would cause a loop. Use a URL of another service.";
/** Hop-by-hop headers (RFC 9110, section 7.6.1), and headers that belong to the new connection. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'host',
  'content-length',
  'expect',
  'accept-encoding',
  HOPS_HEADER,
]);

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

  /** A sent event has no received request to mirror, so its payload is posted as JSON. */
  override async deliver(outgoing: Outgoing, target: Target): Promise<DeliveryAnswer> {
    if (target.url === null) return NO_URL;
    const request = await outgoing.request();
    let isWithheld = false;
    const answer = await this.agent.exchange({
      method: request?.method ?? 'POST',
      url: request ? mirroredUrl(target.url, request) : target.url,
      headers: request
        ? mirroredHeaders(request, outgoing, target)
        : { ...target.headers, 'content-type': 'application/json' },
      body: request ? bodyOf(request) : outgoing.body,
      timeoutMs: target.timeoutMs,
      bodyBytesMax: ANSWER_BYTES_MAX,
      mayBegin: () => !(isWithheld = !outgoing.mayBegin()),
    });
    if (isWithheld) throw new Withheld();
    // The stored exchange omits the received body, which is stored with the received request and erased with it.
    const method = request?.method ?? 'POST';
    return deliveryAnswerOf(answer, { method, url: target.url, headers: target.headers });
  }
}

/** Returns the target's URL extended by the path below the endpoint and by the query. */
export function mirroredUrl(target: URL, { path, query }: Pick<MirroredRequest, 'path' | 'query'>): URL {
  const url = new URL(target.href);
  // Encoded slashes and dots are preserved because the parser gets a path instead of a relative reference.
  if (path !== '') url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  const queries = [url.search.slice(1), query].filter((text) => text !== '');
  url.search = queries.length === 0 ? '' : `?${queries.join('&')}`;
  return url;
}

/** Returns the headers without connection-specific ones. The destination's own headers override the received ones. */
export function mirroredHeaders(
  { headers }: Pick<MirroredRequest, 'headers'>,
  { replayed, traceparent }: Pick<Outgoing, 'replayed' | 'traceparent'>,
  target: Pick<Target, 'headers'>,
): Record<string, string> {
  // The Connection header lists further headers that apply only to the connection.
  const named = headers
    .filter(([name]) => name === 'connection')
    .flatMap(([, value]) =>
      value
        .toLowerCase()
        .split(',')
        .map((text) => text.trim()),
    );
  const mirrored = new Map<string, string>();
  for (const [name, value] of headers) {
    if (HOP_BY_HOP.has(name) || named.includes(name)) continue;
    const separator = name === 'cookie' ? '; ' : ', ';
    mirrored.set(name, mirrored.has(name) ? `${mirrored.get(name)}${separator}${value}` : value);
  }
  const hops = hopsOf(headers.find(([name]) => name === HOPS_HEADER)?.[1]) + 1;
  const ours: Record<string, string> = { [HOPS_HEADER]: String(hops) };
  if (replayed) ours['webhook-replayed'] = 'true';
  if (traceparent !== null) ours['traceparent'] = traceparent;
  return { ...withoutConfigured(Object.fromEntries(mirrored), target.headers), ...target.headers, ...ours };
}

function bodyOf({ method, body }: MirroredRequest): Buffer | null {
  return body.length === 0 && (method === 'GET' || method === 'HEAD') ? null : body;
}
