import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { RequestView } from '#engine/conditions/request-view.js';
import type { Disposition } from '#engine/inbound/disposition.js';
import { Config } from '#kernel/config/config.js';
import { AlreadyAnswered } from '#kernel/idempotency.js';
import { Ledger } from '#modules/ledger/accept.contract.js';
import { AliasRouting } from '../aliases/alias-routing.js';
import { eventBody } from '../messages/message-view.js';
import { MessageProgress } from './message-progress.js';
import { type Decided, type WaitingMessage, WaitingMessagesStore } from './waiting-messages.store.js';

/** The type of the event that a received message is. */
export const RECEIVED_EVENT_TYPE = 'email.received';

/** Longer than anybody tries. */
const KEY_TTL_MS = 7 * 86_400_000;

/**
 * Makes a decided message an event: once, whoever dies and whoever is slow. What was decided is stored before, so that
 * whoever takes it up finds it; the key of its event is taken in the commit of the event; and the row follows.
 */
@Injectable()
export class AcceptMessage {
  constructor(
    private readonly store: WaitingMessagesStore,
    private readonly progress: MessageProgress,
    private readonly routing: AliasRouting,
    private readonly ledger: Ledger,
    private readonly config: Config,
  ) {}

  /** False where it is somebody else's by now. Throws 503 while storage is away. */
  async accept(message: WaitingMessage, decided: Decided): Promise<boolean> {
    if (message.decided === null && !(await this.progress.decide(message, decided))) return false;
    // The key has an end, and the event has not: whoever comes very late looks first.
    const isThere = message.decided !== null && (await this.store.hasEvent(message));
    if (!isThere) await this.makeEvent(message, decided);
    await this.progress.settle(message);
    return true;
  }

  private async makeEvent(message: WaitingMessage, decided: Decided): Promise<void> {
    const { environmentId, id, aliasId, address, expiresOnDay, clientIp } = message;
    const request = {
      method: 'POST',
      url: `mailto:${address}`,
      path: '',
      query: '',
      headers: [['content-type', 'application/json']] as [string, string][],
      ip: clientIp,
    };
    const verification = decided.auth === 'pass' ? 'verified' : decided.auth === 'fail' ? 'failed' : 'none';
    let set: Disposition | null = decided.reason !== null ? 'quarantined' : decided.detail.isParked ? 'parked' : null;
    let payload = eventBody(message, decided, set, this.config.baseUrl);
    const routed =
      set === null
        ? await this.routing.arrivals(
            message,
            new RequestView({ ...request, body: Buffer.from(payload) }, verification),
            payload,
          )
        : [];
    if (set === null && (routed === null || routed.length === 0)) {
      set = routed === null ? 'parked' : 'ignored';
      payload = eventBody(message, decided, set, this.config.baseUrl);
    }
    const payloadBytes = Buffer.byteLength(payload);
    const key = {
      environmentId,
      route: 'received mail',
      key: id,
      fingerprint: createHash('sha256').update(id).digest(),
    };
    try {
      await this.ledger.receive({
        environmentId,
        id,
        expiresOnDay,
        endpointId: aliasId,
        endpointPath: address,
        eventType: RECEIVED_EVENT_TYPE,
        headers: { 'content-type': 'application/json' },
        traceparent: null,
        payload,
        payloadBytes,
        disposition: set,
        deliveries: routed ?? [],
        request: {
          ...request,
          body: null,
          sizeBytes: payloadBytes,
          verification,
          dedupeId: null,
          note: routed === null ? UNROUTED : noteOf(decided, set),
          replayOf: null,
          answer: null,
        },
        idempotency: { request: key, status: 202, body: id },
        keyTtlMs: KEY_TTL_MS,
      });
    } catch (error) {
      if (!(error instanceof AlreadyAnswered)) throw error;
    }
  }
}

const UNROUTED = 'The filters of its alias took too long: nobody knows where it goes.';

const NOTES: Readonly<Record<NonNullable<Decided['reason']>, string>> = {
  sender_not_allowed: 'Its sender is not one that the alias takes mail from, or is not who he says.',
  too_large: 'It is larger than the alias takes.',
  from_missing: 'It has no From header.',
  from_ambiguous: 'Its From header names several senders, or can be read in two ways.',
  dmarc_failed: 'It is not from the domain that it says it is from, which asks for such mail to be set aside (DMARC).',
  virus: 'A virus was found in it.',
  sender_unverified:
    'Name servers did not answer, so its sender could not be verified, and its alias takes mail from certain senders only.',
};

function noteOf({ reason, detail }: Decided, set: Disposition | null): string | null {
  if (reason !== null) return NOTES[reason];
  return set === 'parked' ? detail.parseError : null;
}
