import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
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
import { ANSWER_BYTES_MAX, deliveryAnswerOf, draftFaults, NO_URL } from './http-destination.js';
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
      loopFault: (url) => (this.ownHost.receives(url) ? LOOP : null),
    });
  }

  override probe({ url }: Draft): Promise<ProbeReport> {
    return this.prober.run(url ?? '');
  }

  override async deliver(given: Outgoing, target: Target): Promise<DeliveryAnswer> {
    const body = this.bytesOf(given.body);
    const outgoing = body === given.body ? given : { ...given, body };
    if (target.url === null) return NO_URL;
    let isWithheld = false;
    const sent = headersOf(outgoing, target);
    const answer = await this.agent.exchange({
      method: 'POST',
      url: target.url,
      headers: sent,
      body,
      timeoutMs: target.timeoutMs,
      bodyBytesMax: ANSWER_BYTES_MAX,
      mayBegin: () => !(isWithheld = !outgoing.mayBegin()),
    });
    if (isWithheld) throw new Withheld();
    return deliveryAnswerOf(answer, { method: 'POST', url: target.url, headers: sent });
  }

  override signed(outgoing: Signable, target: Target): SignedRequest | null {
    return target.url && { method: 'POST', url: target.url, headers: headersOf(outgoing, target) };
  }

  /**
   * Encodes a body once if consecutive deliveries share it, as those of a fan-out do. A body sent only once is not
   * copied.
   */
  private bytesOf(body: string | Buffer): string | Buffer {
    if (typeof body !== 'string') return body;
    if (this.last.text === body) return (this.last.bytes ??= Buffer.from(body));
    this.last = { text: body, bytes: null };
    return body;
  }
}

export type HeaderSources = Pick<Target, 'headers' | 'signingKeys' | 'privateKeys' | 'legacySignature'>;

/** Precedence: Posthorn's headers, then the message's, then the destination's. Verified headers can't be forged. */
export function headersOf(outgoing: Signable, target: HeaderSources): Record<string, string> {
  const { webhookId, eventType, body, replayed, traceparent } = outgoing;
  const timestampSeconds = Math.floor(outgoing.atMs / 1000);
  const headers: Record<string, string> = { ...target.headers, ...outgoing.headers };
  if (target.legacySignature !== null)
    Object.assign(headers, legacyHeaders(target.legacySignature, webhookId, timestampSeconds, body));
  // A received event keeps its content type. A sent event is always JSON.
  headers['content-type'] = outgoing.headers?.['content-type'] ?? 'application/json';
  headers['user-agent'] = USER_AGENT;
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
