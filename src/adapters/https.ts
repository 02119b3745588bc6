import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { deliveredName } from '#engine/inbound/forward.js';
import { forwardedUrl, UNSAFE_PATH } from '#engine/inbound/forwarded-url.js';
import { legacyHeaders } from '#engine/legacy-signature.js';
import { signatureHeader } from '#engine/signing.js';
import type { Fault } from '#kernel/errors.js';
import { USER_AGENT } from '#kernel/version.js';
import {
  Adapter,
  type DeliveryAnswer,
  DestinationAdapter,
  type Draft,
  type Outgoing,
  type ProbeReport,
  type Signable,
  type SignedRequest,
  type Target,
  Withheld,
} from '#modules/destinations/contract.js';
import { ANSWER_BYTES_MAX, deliveryAnswerOf, draftFaults, isBodiless, NO_URL } from './http-destination.js';
import { OwnHost } from './own-host.js';
import { Probe } from './probe.js';

const LOOP = 'The URL is a receive URL of this service, which would cause a loop. Use a URL of another service.';

/** Sends signed POST requests to an HTTPS URL (Standard Webhooks 1.0.0). */
@Adapter()
export class HttpsAdapter extends DestinationAdapter {
  override readonly type = 'https';
  override readonly pulled = false;
  private last: { text: string; bytes: Buffer | null } = { text: '', bytes: null };

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly prober: Probe,
    private readonly ownHost: OwnHost,
  ) {
    super();
  }

  override check(draft: Draft): Fault[] {
    return draftFaults(draft, {
      gate: this.gate,
      noCredentials: 'An https destination takes no credentials: use headers instead.',
      // If the received path is appended to the target URL, the result may be a receive URL of this service, which
      // would cause a loop. Therefore, no URL of this service is allowed.
      loopFault: (url) => ((draft.forward?.path ? this.ownHost.is(url) : this.ownHost.receives(url)) ? LOOP : null),
    });
  }

  override probe({ url }: Draft): Promise<ProbeReport> {
    return this.prober.run(url ?? '');
  }

  override async deliver(given: Outgoing, target: Target): Promise<DeliveryAnswer> {
    const body = this.bytesOf(given.body);
    const outgoing = body === given.body ? given : { ...given, body };
    if (target.url === null) return NO_URL;
    const line = requestLineOf(outgoing, target.url, target);
    if (line === null) return { answer: { kind: 'error', error: 'refused' }, durationMs: 0, excerpt: UNSAFE_PATH };
    let isWithheld = false;
    const sent = headersOf(outgoing, target);
    const answer = await this.agent.exchange({
      method: line.method,
      url: line.url,
      headers: sent,
      body: body.length === 0 && isBodiless(line.method) ? null : body,
      timeoutMs: target.timeoutMs,
      bodyBytesMax: ANSWER_BYTES_MAX,
      mayBegin: () => !(isWithheld = !outgoing.mayBegin()),
    });
    if (isWithheld) throw new Withheld();
    // The stored exchange omits the received path and query, because both are stored in the event and erased with it.
    return deliveryAnswerOf(answer, { method: line.method, url: target.url, headers: sent });
  }

  override signed(outgoing: Signable, target: Target): SignedRequest | null {
    const line = target.url && requestLineOf(outgoing, target.url, target);
    return line && { ...line, headers: headersOf(outgoing, target) };
  }

  /**
   * Returns the body to send. Encodes a text only once for consecutive deliveries, for example of an event to several
   * destinations.
   */
  private bytesOf(body: string | Buffer): string | Buffer {
    if (typeof body !== 'string') return body;
    if (this.last.text === body) return (this.last.bytes ??= Buffer.from(body));
    this.last = { text: body, bytes: null };
    return body;
  }
}

/** Returns the delivery's method and URL. Returns null if the received path could escape the target's path (`..`). */
function requestLineOf(
  { requestLine }: Signable,
  target: URL,
  { forward }: Pick<Target, 'forward'>,
): { method: string; url: URL } | null {
  if (requestLine === null) return { method: 'POST', url: target };
  const url = forwardedUrl(target, requestLine, forward);
  return url && { method: forward.method ? requestLine.method : 'POST', url };
}

/**
 * Renames received headers to the names used for delivery. Usually no header is renamed, and the same object is
 * returned.
 */
function receivedHeaders(headers: Readonly<Record<string, string>> | null): Readonly<Record<string, string>> | null {
  if (Object.keys(headers ?? {}).every((name) => deliveredName(name) === name)) return headers;
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [deliveredName(name), value]));
}

export type HeaderSources = Pick<Target, 'headers' | 'signingKeys' | 'privateKeys' | 'legacySignature'>;

/**
 * Returns the headers to send. On a conflict, Posthorn's own headers win, then the message's, then the destination's.
 */
export function headersOf(outgoing: Signable, target: HeaderSources): Record<string, string> {
  const { webhookId, eventType, body, replayed, traceparent } = outgoing;
  const timestampSeconds = Math.floor(outgoing.atMs / 1000);
  const headers: Record<string, string> = {
    ...target.headers,
    ...(outgoing.requestLine === null ? outgoing.headers : receivedHeaders(outgoing.headers)),
  };
  if (target.legacySignature !== null)
    Object.assign(headers, legacyHeaders(target.legacySignature, webhookId, timestampSeconds, body));
  // A received event keeps its content type. An event that was sent through the API is always JSON.
  headers['content-type'] = outgoing.headers?.['content-type'] ?? 'application/json';
  headers['user-agent'] = (outgoing.requestLine && outgoing.headers?.['user-agent']) ?? USER_AGENT;
  headers['webhook-id'] = webhookId;
  headers['webhook-event-type'] = eventType;
  headers['webhook-timestamp'] = String(timestampSeconds);
  headers['webhook-signature'] = signatureHeader(
    target.signingKeys,
    webhookId,
    timestampSeconds,
    body,
    target.privateKeys,
  );
  if (replayed) headers['webhook-replayed'] = 'true';
  if (traceparent !== null) headers['traceparent'] = traceparent;
  return headers;
}
