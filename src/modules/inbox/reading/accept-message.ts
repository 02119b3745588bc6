import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { RequestView } from '#engine/conditions/request-view.js';
import type { Disposition } from '#engine/inbound/disposition.js';
import { Config } from '#kernel/config/config.js';
import { AlreadyAnswered } from '#kernel/idempotency.js';
import { Ledger } from '#modules/ledger/ledger.js';
import { MessageActions } from '../actions/message-actions.js';
import { AliasRouting } from '../aliases/alias-routing.js';
import { eventBody } from '../messages/message-view.js';
import { plainLinks, SignedLinks } from '../messages/signed-links.js';
import { MessageProgress } from './message-progress.js';
import { type Decided, type WaitingMessage, WaitingMessagesStore } from './waiting-messages.store.js';

export const RECEIVED_EVENT_TYPE = 'email.received';

/** Lifetime of an event's idempotency key. No message is retried for longer. */
const KEY_TTL_MS = 7 * 86_400_000;

/**
 * Creates exactly one event for a message whose delivery has been decided, even if workers crash or are slow. Stores
 * the decision first, so that another worker can continue with it. Commits the idempotency key with the event. Updates
 * the message's row last.
 */
@Injectable()
export class AcceptMessage {
  constructor(
    private readonly store: WaitingMessagesStore,
    private readonly progress: MessageProgress,
    private readonly routing: AliasRouting,
    private readonly ledger: Ledger,
    private readonly actions: MessageActions,
    private readonly links: SignedLinks,
    private readonly config: Config,
  ) {}

  /** Creates the event. Returns false if another worker has meanwhile claimed the message. May throw 503. */
  async accept(message: WaitingMessage, read: Decided): Promise<boolean> {
    const decided = message.decided ?? (await this.actions.plan(message, read));
    if (message.decided === null && !(await this.progress.decide(message, decided))) return false;
    // The event is kept longer than its idempotency key. A worker that is days late must therefore check whether the
    // event exists.
    const isThere = message.decided !== null && (await this.store.hasEvent(message));
    if (!isThere) await this.makeEvent(message, decided);
    await this.actions.carryOut(message, decided);
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
    const links =
      message.linkTtlSeconds === null
        ? plainLinks(this.config.baseUrl, message)
        : this.links.issue(message, message.linkTtlSeconds);
    let payload = eventBody(message, decided, set, links);
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
      payload = eventBody(message, decided, set, links);
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
        requestLine: { method: request.method, path: request.path, query: request.query },
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
          logs: null,
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

const UNROUTED = 'The filters of its alias took too long: its destinations are unknown.';

const NOTES: Readonly<Record<NonNullable<Decided['reason']>, string>> = {
  sender_not_allowed: 'Its sender is not one that the alias accepts mail from, or could not be verified.',
  too_large: 'It is larger than the alias accepts.',
  from_missing: 'It has no From header.',
  from_ambiguous: 'Its From header names several senders, or is ambiguous.',
  dmarc_failed:
    'It is not from the domain in its From header, which asks for such mail to be quarantined or rejected (DMARC).',
  virus: 'A virus was found in it.',
  sender_unverified:
    'Name servers did not answer, so its sender could not be verified, and its alias accepts mail from certain senders only.',
};

function noteOf({ reason, detail }: Decided, set: Disposition | null): string | null {
  if (reason !== null) return NOTES[reason];
  return set === 'parked' ? detail.parseError : null;
}
