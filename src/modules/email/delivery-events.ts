import { suppressionKey } from '#engine/mail/addresses.js';
import { type EmailStatus, emailStatus, isOwed, stateAfter, suppressionAfter } from '#engine/mail/recipient-state.js';
import type { EmailFact } from './contract.js';
import type { StoredRecipient, TimelineItem } from './email.entities.js';
import type { EmailState, NewEmail } from './emails.store.js';

export interface AppliedDeliveryEvents {
  after: Pick<NewEmail, 'recipients' | 'timeline' | 'status' | 'isOwed'>;
  isChanged: boolean;
  /** Addresses to suppress. Each address is listed at most once per origin, even after repeated reports. */
  suppressed: { address: string; origin: 'bounce' | 'complaint' }[];
  /** Recipients that have just bounced, complained or failed. A system event is stored for each of these recipients. */
  news: { state: 'bounced' | 'complained' | 'failed'; address: string; fact: EmailFact }[];
  /**
   * True if a recipient was in the state `sent` or `delivered`, and a later event changed this to a failure or a
   * complaint.
   */
  isLateFailure: boolean;
}

/** Subtype of an event that reports that the message is delayed in transit. */
export const DELAYED = 'delayed';
/** Event types that appear in the timeline. Deferrals are shown as attempts instead. */
const TIMELINE_TYPES: Readonly<Partial<Record<EmailFact['kind'], TimelineItem['type']>>> = {
  sent: 'sent',
  delivered: 'delivered',
  bounced: 'bounced',
  complained: 'complained',
  rejected: 'rejected',
  suppressed: 'rejected',
  unsubscribed: 'unsubscribed',
};
/**
 * Maximum number of timeline items. Sufficient for every kind of event for fifty recipients. Later events are omitted.
 */
const TIMELINE_MAX = 500;
const HANDED_OVER = new Set(['sent', 'delivered']);

/** Applies events in order and returns the changes. Ignores addresses that are not recipients. Has no side effects. */
export function applyDeliveryEvents(
  state: Pick<EmailState, 'recipients' | 'timeline'>,
  facts: readonly EmailFact[],
  at: string,
): AppliedDeliveryEvents {
  const recipients = state.recipients.map((recipient) => ({ ...recipient }));
  const byKey = new Map(recipients.map((recipient) => [suppressionKey(recipient.address), recipient]));
  const timeline = [...state.timeline];
  const applied: AppliedDeliveryEvents = {
    after: { recipients, timeline, ...overallState(recipients) },
    isChanged: false,
    suppressed: [],
    news: [],
    isLateFailure: false,
  };
  for (const fact of facts) {
    const recipient = byKey.get(suppressionKey(fact.address));
    if (recipient !== undefined) apply(applied, recipient, fact, at);
  }
  return { ...applied, after: { recipients, timeline, ...overallState(recipients) } };
}

/**
 * Derives an email's status from its recipients. `isOwed` means that the message must still be sent to at least one
 * recipient.
 */
export function overallState(recipients: readonly Pick<StoredRecipient, 'state'>[]): {
  status: EmailStatus;
  isOwed: boolean;
} {
  return {
    status: emailStatus(
      recipients.map(({ state }) => state),
      null,
    ),
    isOwed: recipients.some(({ state }) => isOwed(state, false)),
  };
}

function apply(applied: AppliedDeliveryEvents, recipient: StoredRecipient, fact: EmailFact, at: string): void {
  const before = recipient.state;
  const state = stateAfter(before, fact.kind);
  const origin = suppressionAfter(fact.kind, fact.isPermanent);
  if (origin !== null && !isCounted(recipient, before, origin)) {
    applied.suppressed.push({ address: recipient.address, origin });
    recipient.suppressedFor = [...(recipient.suppressedFor ?? []), origin];
    applied.isChanged = true;
  }
  const isAdded = addToTimeline(applied.after.timeline, recipient.address, fact, at);
  // The detail explains the state. An event therefore replaces it only if the state changes, or while it is `sending`.
  const explains = state !== before || (before === 'sending' && recipient.detail !== fact.detail);
  if (!explains && !isAdded) return;
  applied.isChanged = true;
  if (explains) Object.assign(recipient, { state, at, detail: fact.detail });
  if (state === before) return;
  if (state === 'bounced' || state === 'complained' || state === 'failed')
    applied.news.push({ state, address: recipient.address, fact });
  if (HANDED_OVER.has(before) && !HANDED_OVER.has(state)) applied.isLateFailure = true;
}

/**
 * Returns whether the address was already suppressed for `origin`. Older versions did not record suppressions, so a
 * recipient in the state `complained` counts as suppressed for a complaint.
 */
function isCounted(
  { suppressedFor }: StoredRecipient,
  before: StoredRecipient['state'],
  origin: 'bounce' | 'complaint',
): boolean {
  return suppressedFor?.includes(origin) === true || (origin === 'complaint' && before === 'complained');
}

/**
 * Adds an event to the timeline. Returns false if the event is already there, if its type is not shown, or if the
 * timeline is full.
 */
function addToTimeline(
  timeline: TimelineItem[],
  recipient: string,
  { kind, subtype, detail }: EmailFact,
  at: string,
): boolean {
  const type = kind === 'deferred' && subtype === DELAYED ? 'sent' : TIMELINE_TYPES[kind];
  if (type === undefined || timeline.length >= TIMELINE_MAX) return false;
  if (timeline.some((item) => item.type === type && item.subtype === subtype && item.recipient === recipient))
    return false;
  timeline.push({ type, subtype, at, detail, recipient });
  return true;
}
