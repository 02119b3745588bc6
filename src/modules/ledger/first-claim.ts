import type { ClaimedDelivery } from './claims.contract.js';

type Content = Pick<ClaimedDelivery, 'environmentId' | 'eventType' | 'headers' | 'traceparent' | 'payload'> &
  Partial<Pick<ClaimedDelivery, 'requestLine'>>;

export type DeliveryIdentity = Pick<
  ClaimedDelivery,
  'eventId' | 'ordinal' | 'claimedBy' | 'direction' | 'messageId' | 'targetId' | 'url'
>;

/** Returns a new delivery that is stored as claimed, so that its first attempt does not need a claim statement. */
export function firstClaim(content: Content, identity: DeliveryIdentity): ClaimedDelivery {
  const { environmentId, eventType, headers, requestLine = null, traceparent, payload } = content;
  return {
    environmentId,
    eventId: identity.eventId,
    ordinal: identity.ordinal,
    claimedBy: identity.claimedBy,
    direction: identity.direction,
    messageId: identity.messageId,
    targetId: identity.targetId,
    url: identity.url,
    eventType,
    headers,
    requestLine,
    traceparent,
    payload,
    attempts: 0,
    attemptsUsed: 0,
    firstAttemptAtMs: null,
    replayed: false,
  };
}
