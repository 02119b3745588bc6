import type { RecipientState } from '#engine/mail/recipient-state.js';
import type { EmailFact } from './contract.js';
import { applyDeliveryEvents } from './delivery-events.js';
import type { StoredRecipient } from './email.entities.js';
import { hostOfSender, mailCountsOf } from './mail-volume.js';

const AT = '2026-11-21T09:30:00.000Z';

const recipient = (address: string, state: RecipientState = 'sending'): StoredRecipient => ({
  address,
  kind: 'to',
  state,
  at: AT,
  detail: null,
});
const fact = (address: string, kind: EmailFact['kind'], isPermanent = false): EmailFact => ({
  address,
  kind,
  subtype: null,
  detail: null,
  isPermanent,
});

function countsAfter(recipients: StoredRecipient[], facts: EmailFact[]) {
  const applied = applyDeliveryEvents({ recipients, timeline: [] }, facts, AT);
  return mailCountsOf(recipients, applied, (address) => !address.endsWith('@simulator.example'));
}

describe('mailCountsOf', () => {
  it.each<[string, RecipientState, EmailFact[], object | null]>([
    ['accepted by a relay', 'sending', [fact('a@x', 'sent')], { sent: 1 }],
    ['delivered', 'sending', [fact('a@x', 'sent'), fact('a@x', 'delivered')], { sent: 1, delivered: 1 }],
    ['delivered after a relay accepted it', 'sent', [fact('a@x', 'delivered')], { delivered: 1 }],
    ['rejected for good', 'sending', [fact('a@x', 'bounced', true)], { sent: 1, bounced: 1 }],
    ['rejected because the mailbox is full', 'sending', [fact('a@x', 'bounced')], { sent: 1 }],
    ['bounced later', 'delivered', [fact('a@x', 'bounced', true)], { bounced: 1 }],
    ['bounced again', 'bounced', [fact('a@x', 'bounced', true)], null],
    ['reported as spam', 'delivered', [fact('a@x', 'complained')], { complained: 1 }],
    ['reported as spam again', 'complained', [fact('a@x', 'complained')], null],
    ['refused because of the message', 'sending', [fact('a@x', 'rejected')], null],
    ['delivered by a replay after that', 'failed', [fact('a@x', 'delivered')], { sent: 1, delivered: 1 }],
    ['deferred', 'sending', [fact('a@x', 'deferred')], null],
    ['suppressed', 'sending', [fact('a@x', 'suppressed')], null],
    ['no recipient', 'sending', [fact('b@x', 'bounced', true)], null],
  ])('%s', (_what, state, facts, counts) => {
    expect(countsAfter([recipient('a@x', state)], facts)).toEqual(
      counts && { sent: 0, delivered: 0, bounced: 0, complained: 0, ...counts },
    );
  });

  it('adds up recipients, without those of the simulator', () => {
    const recipients = ['a@x', 'b@x', 'a@simulator.example'].map((address) => recipient(address));

    expect(
      countsAfter(
        recipients,
        recipients.map(({ address }) => fact(address, 'bounced', true)),
      ),
    ).toEqual({ sent: 2, delivered: 0, bounced: 2, complained: 0 });
  });
});

describe('hostOfSender', () => {
  it.each([
    ['shop@example.com', 'example.com'],
    ['Shop <shop@Example.com>', 'example.com'],
    ['"a@b.example" <shop@example.com>', 'example.com'],
  ])('%s', (sender, host) => {
    expect(hostOfSender(sender)).toBe(host);
  });
});
