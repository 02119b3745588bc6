/**
 * Where an email stands with one recipient. `sending` is owed: the next attempt includes it. `sent` was handed over to
 * somebody who tells later what came of it; callers see `sending` there too.
 */
export type RecipientState = (typeof RECIPIENT_STATES)[number];

export const RECIPIENT_STATES = [
  'sending',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'failed',
  'suppressed',
] as const;

/**
 * What became known of one recipient. `rejected`: the message, its sender or a policy was refused, which says nothing of
 * the address. `deferred`: not now, or later than usual. `suppressed`: not tried, since the address is on the list.
 */
export type FactKind = (typeof FACT_KINDS)[number];

export const FACT_KINDS = ['sent', 'delivered', 'bounced', 'complained', 'rejected', 'deferred', 'suppressed'] as const;

/** What callers see of an email. */
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

export const EMAIL_STATUSES = ['sending', 'delivered', 'bounced', 'complained', 'suppressed', 'failed', 'dlq'] as const;

/** What the email's own delivery came to: `retrying` while there will be another attempt. */
export type HandingOver = 'retrying' | 'delivered' | 'failed' | 'dlq';

type Transitions = Partial<Record<FactKind, RecipientState>>;

const FROM_OPEN: Transitions = {
  sent: 'sent',
  delivered: 'delivered',
  bounced: 'bounced',
  complained: 'complained',
  rejected: 'failed',
  suppressed: 'suppressed',
};

/**
 * What is left out changes nothing. Facts arrive in any order and more than once (a bounce before its `delivered`), so a
 * state is never left for a better one: a late `delivered` changes nothing. The exception is `failed`, which a replay
 * tries again, since it says nothing of the address.
 */
const TRANSITIONS: Readonly<Record<RecipientState, Transitions>> = {
  sending: FROM_OPEN,
  sent: { delivered: 'delivered', bounced: 'bounced', complained: 'complained', rejected: 'failed' },
  delivered: { bounced: 'bounced', complained: 'complained' },
  bounced: { complained: 'complained' },
  complained: {},
  failed: { sent: 'sent', delivered: 'delivered', bounced: 'bounced', suppressed: 'suppressed' },
  suppressed: {},
};

/** The state after a fact. The same fact twice is the same as once. */
export function stateAfter(state: RecipientState, fact: FactKind): RecipientState {
  return TRANSITIONS[state][fact] ?? state;
}

/** Whether an attempt includes the recipient: never one who has the message, or whose address was refused for good. */
export function isOwed(state: RecipientState, replayed: boolean): boolean {
  return state === 'sending' || (replayed && state === 'failed');
}

/** Which suppression follows from a fact; a bounce only when it is for good. */
export function suppressionAfter(fact: FactKind, isPermanent: boolean): 'bounce' | 'complaint' | null {
  if (fact === 'complained') return 'complaint';
  return fact === 'bounced' && isPermanent ? 'bounce' : null;
}

/**
 * An email's status: the worst of complained, bounced, dlq, failed, sending, delivered; suppressed when all are.
 * `handingOver` tells of those that are still owed: what nobody tries any more is a dead letter or has failed.
 * @throws RangeError for an email without recipients.
 */
export function emailStatus(states: readonly RecipientState[], handingOver: HandingOver | null): EmailStatus {
  if (states.length === 0) throw new RangeError('An email without recipients has no status.');
  const seen = new Set(states.map((state) => recipientStatus(state, handingOver)));
  return WORST_FIRST.find((status) => seen.has(status)) ?? 'suppressed';
}

/** The same of one recipient. */
export function recipientStatus(state: RecipientState, handingOver: HandingOver | null): EmailStatus {
  if (state === 'sent') return 'sending';
  if (state !== 'sending') return state;
  return handingOver === 'dlq' || handingOver === 'failed' ? handingOver : 'sending';
}

const WORST_FIRST = [
  'complained',
  'bounced',
  'dlq',
  'failed',
  'sending',
  'delivered',
] as const satisfies readonly EmailStatus[];

/** The status that the general list of events shows for an email. */
export function eventStatusOf(status: EmailStatus): HandingOver {
  if (status === 'delivered' || status === 'dlq') return status;
  return status === 'sending' ? 'retrying' : 'failed';
}
