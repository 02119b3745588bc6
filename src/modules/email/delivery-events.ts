import { suppressionKey } from '#engine/mail/addresses.js';
import { type EmailStatus, emailStatus, isOwed, stateAfter, suppressionAfter } from '#engine/mail/recipient-state.js';
import type { EmailFact } from './contract.js';
import type { EmailState, NewEmail, StoredRecipient, TimelineItem } from './emails.store.js';

/** What facts make of an email. */
export interface AppliedDeliveryEvents {
  after: Pick<NewEmail, 'recipients' | 'timeline' | 'status' | 'isOwed'>;
  /** False when nothing of it is new. */
  isChanged: boolean;
  /** Addresses that are not sent to from now on: each once for a bounce and once for a complaint, however often this email is reported. */
  suppressed: { address: string; origin: 'bounce' | 'complaint' }[];
  /** What somebody has to hear of: recipients that came into one of these states now. */
  news: { state: 'bounced' | 'complained' | 'failed'; address: string; fact: EmailFact }[];
  /** True when a recipient that was handed over turned out not to have the message. */
  isLateFailure: boolean;
}

/** What a report of a delay is told as: the message is on its way, and later than usual. */
export const DELAYED = 'delayed';
/** A timeline tells facts; what is tried again is told by the attempts. */
const TOLD: Readonly<Partial<Record<EmailFact['kind'], TimelineItem['type']>>> = {
  sent: 'sent',
  delivered: 'delivered',
  bounced: 'bounced',
  complained: 'complained',
  rejected: 'rejected',
  suppressed: 'rejected',
};
/** Fifty recipients, each with every fact there is, and room for subtypes. A provider that goes on telling adds nothing behind it. */
const TIMELINE_MAX = 500;
const HANDED_OVER = new Set(['sent', 'delivered']);

/** Applies facts to an email, in their order; facts of strangers are passed over. Pure. */
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

/** The status that the row holds, and whether anything is owed. */
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
  const isTold = tell(applied.after.timeline, recipient.address, fact, at);
  // A late fact that changes nothing does not take the place of what explains the state.
  const explains = state !== before || (before === 'sending' && recipient.detail !== fact.detail);
  if (!explains && !isTold) return;
  applied.isChanged = true;
  if (explains) Object.assign(recipient, { state, at, detail: fact.detail });
  if (state === before) return;
  if (state === 'bounced' || state === 'complained' || state === 'failed')
    applied.news.push({ state, address: recipient.address, fact });
  if (HANDED_OVER.has(before) && !HANDED_OVER.has(state)) applied.isLateFailure = true;
}

/** Who has complained is suppressed for it, whether or not the row says so: those of before it was noted do not. */
function isCounted(
  { suppressedFor }: StoredRecipient,
  before: StoredRecipient['state'],
  origin: 'bounce' | 'complaint',
): boolean {
  return suppressedFor?.includes(origin) === true || (origin === 'complaint' && before === 'complained');
}

/** False for what stands there already. */
function tell(timeline: TimelineItem[], recipient: string, { kind, subtype, detail }: EmailFact, at: string): boolean {
  const type = kind === 'deferred' && subtype === DELAYED ? 'sent' : TOLD[kind];
  if (type === undefined || timeline.length >= TIMELINE_MAX) return false;
  if (timeline.some((item) => item.type === type && item.subtype === subtype && item.recipient === recipient))
    return false;
  timeline.push({ type, subtype, at, detail, recipient });
  return true;
}
