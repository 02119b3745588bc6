/**
 * State of a recipient. `sending`: the next attempt includes the recipient. `sent`: the server has the mail, but there
 * is no result yet. The API shows this state as `sending`.
 */
export type RecipientState = (typeof RECIPIENT_STATES)[number];

export const RECIPIENT_STATES = [
  'sending',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'failed',
  'canceled',
  'suppressed',
] as const;

/**
 * Event about a recipient. `rejected`: the message, its sender or a policy was the reason, not the address. `deferred`:
 * a temporary refusal or a delay. `suppressed`: not attempted, because the address is on the suppression list or not
 * subscribed to the email's topic. `unsubscribed`: the recipient used the email's unsubscribe link.
 */
export type FactKind = (typeof FACT_KINDS)[number];

export const FACT_KINDS = [
  'sent',
  'delivered',
  'bounced',
  'complained',
  'rejected',
  'deferred',
  'suppressed',
  'unsubscribed',
] as const;

export type EmailStatus = (typeof EMAIL_STATUSES)[number];

export const EMAIL_STATUSES = [
  'sending',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'failed',
  'canceled',
  'dlq',
] as const;

/**
 * Status of the transfer of an email. Applies to its recipients that have no final result yet. `retrying`: another
 * attempt follows.
 */
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
 * State after each event. Events without an entry leave the state unchanged. Events arrive in any order and repeatedly,
 * so a state never improves: a `delivered` after a bounce changes nothing. The exception is `failed`, because a replay
 * may send the message again.
 */
const TRANSITIONS: Readonly<Record<RecipientState, Transitions>> = {
  sending: FROM_OPEN,
  sent: { delivered: 'delivered', bounced: 'bounced', complained: 'complained', rejected: 'failed' },
  delivered: { bounced: 'bounced', complained: 'complained' },
  bounced: { complained: 'complained' },
  complained: {},
  failed: { sent: 'sent', delivered: 'delivered', bounced: 'bounced', suppressed: 'suppressed' },
  canceled: {},
  suppressed: {},
};

/** Returns the state after an event. Repeated events change nothing. */
export function stateAfter(state: RecipientState, fact: FactKind): RecipientState {
  return TRANSITIONS[state][fact] ?? state;
}

/** Returns whether an attempt includes the recipient. A replay also includes failed recipients. */
export function isOwed(state: RecipientState, replayed: boolean): boolean {
  return state === 'sending' || (replayed && state === 'failed');
}

/** Returns the reason to suppress the address, or null. Only a permanent bounce suppresses the address. */
export function suppressionAfter(fact: FactKind, isPermanent: boolean): 'bounce' | 'complaint' | null {
  if (fact === 'complained') return 'complaint';
  return fact === 'bounced' && isPermanent ? 'bounce' : null;
}

/**
 * Returns the status of an email: the first of complained, bounced, dlq, failed, canceled, sending and delivered that
 * any recipient has. Returns suppressed if all recipients are suppressed. `handingOver` is the status of recipients
 * without a final result: dlq or failed once no attempt follows.
 *
 * @throws RangeError for an email without recipients.
 */
export function emailStatus(states: readonly RecipientState[], handingOver: HandingOver | null): EmailStatus {
  if (states.length === 0) throw new RangeError('An email without recipients has no status.');
  const seen = new Set(states.map((state) => recipientStatus(state, handingOver)));
  return WORST_FIRST.find((status) => seen.has(status)) ?? 'suppressed';
}

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
  'canceled',
  'sending',
  'delivered',
] as const satisfies readonly EmailStatus[];

export function eventStatusOf(status: EmailStatus): HandingOver {
  if (status === 'delivered' || status === 'dlq') return status;
  return status === 'sending' ? 'retrying' : 'failed';
}
