import type { MailCounts } from '#engine/mail/domain-reputation.js';
import type { RecipientState } from '#engine/mail/recipient-state.js';
import type { AppliedDeliveryEvents } from './delivery-events.js';
import type { StoredRecipient } from './email.entities.js';

const OPEN: ReadonlySet<RecipientState> = new Set(['sending', 'failed']);
const SENT: ReadonlySet<RecipientState> = new Set(['sent', 'delivered', 'bounced', 'complained']);

/**
 * Converts the changes to an email's recipients to counts (sent, delivered, bounced, complained). Returns null if no
 * count changes. A recipient adds at most one to each count. Ignores temporary bounces, such as for a full mailbox.
 */
export function mailCountsOf(
  before: readonly StoredRecipient[],
  { after, news }: Pick<AppliedDeliveryEvents, 'news'> & { after: Pick<AppliedDeliveryEvents['after'], 'recipients'> },
  isCounted: (address: string) => boolean,
): MailCounts | null {
  const permanent = new Set(news.filter(({ fact }) => fact.isPermanent).map(({ address }) => address));
  const counts: MailCounts = { sent: 0, delivered: 0, bounced: 0, complained: 0 };
  for (const [place, { state: from, address }] of before.entries()) {
    const to = after.recipients[place]?.state ?? from;
    if (from === to || !isCounted(address)) continue;
    if (OPEN.has(from) && SENT.has(to)) counts.sent += 1;
    if (to === 'delivered') counts.delivered += 1;
    if (to === 'bounced' && permanent.has(address)) counts.bounced += 1;
    if (to === 'complained') counts.complained += 1;
  }
  return Object.values(counts).some((count) => count > 0) ? counts : null;
}

/** Returns the host of a stored sender. The host of `Shop <shop@example.com>` is `example.com`. */
export function hostOfSender(sender: string): string {
  return sender
    .slice(sender.lastIndexOf('@') + 1)
    .replace('>', '')
    .toLowerCase();
}
