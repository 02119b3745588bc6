import type { EmailFact } from './contract.js';
import { applyDeliveryEvents } from './delivery-events.js';
import type { StoredRecipient } from './emails.store.js';

const AT = '2026-11-22T10:00:00.000Z';
const LATER = '2026-11-22T11:00:00.000Z';
const recipient = (address: string, state: StoredRecipient['state'] = 'sending'): StoredRecipient => ({
  address,
  kind: 'to',
  state,
  at: AT,
  detail: null,
});
const fact = (address: string, kind: EmailFact['kind'], more: Partial<EmailFact> = {}): EmailFact => ({
  address,
  kind,
  subtype: null,
  detail: `${kind}!`,
  isPermanent: false,
  ...more,
});
const email = (...recipients: StoredRecipient[]) => ({ recipients, timeline: [] });

describe('applyFacts', () => {
  it('moves each recipient by itself, and the email with the worst of them', () => {
    const { after, news, suppressed } = applyDeliveryEvents(
      email(recipient('a@x.example'), recipient('b@x.example'), recipient('c@x.example')),
      [
        fact('a@x.example', 'sent'),
        fact('a@x.example', 'delivered'),
        fact('b@x.example', 'bounced', { isPermanent: true }),
        fact('c@x.example', 'deferred'),
      ],
      LATER,
    );

    expect(after.recipients.map(({ state, at }) => [state, at])).toEqual([
      ['delivered', LATER],
      ['bounced', LATER],
      ['sending', LATER],
    ]);
    expect([after.status, after.isOwed]).toEqual(['bounced', true]);
    expect(after.timeline.map(({ type, recipient: whom }) => [type, whom])).toEqual([
      ['sent', 'a@x.example'],
      ['delivered', 'a@x.example'],
      ['bounced', 'b@x.example'],
    ]);
    expect([news.map(({ state, address }) => [state, address]), suppressed]).toEqual([
      [['bounced', 'b@x.example']],
      [{ address: 'b@x.example', origin: 'bounce' }],
    ]);
  });

  it('changes nothing the second time', () => {
    const facts = [
      fact('a@x.example', 'sent'),
      fact('a@x.example', 'bounced', { isPermanent: true, subtype: '5.1.1' }),
    ];
    const once = applyDeliveryEvents(email(recipient('a@x.example')), facts, AT);

    const twice = applyDeliveryEvents(once.after, facts, LATER);

    expect([twice.isChanged, twice.after, twice.news]).toEqual([false, once.after, []]);
  });

  it('a bounce that was told is not told again in other words: the address is suppressed for it once, and for a complaint once more', () => {
    const bounced = (subtype: string) =>
      fact('a@x.example', 'bounced', { isPermanent: true, subtype, detail: subtype });
    const once = applyDeliveryEvents(
      email(recipient('a@x.example', 'delivered')),
      [bounced('5.1.1'), bounced('5.1.10')],
      AT,
    );

    const again = applyDeliveryEvents(once.after, [bounced('5.1.1'), bounced('5.1.2')], LATER);
    const complained = applyDeliveryEvents(again.after, [fact('a@x.example', 'complained')], LATER);

    expect(once.suppressed).toEqual([{ address: 'a@x.example', origin: 'bounce' }]);
    expect([again.suppressed, again.news]).toEqual([[], []]);
    expect(complained.suppressed).toEqual([{ address: 'a@x.example', origin: 'complaint' }]);
    expect(
      applyDeliveryEvents(
        complained.after,
        [fact('a@x.example', 'complained', { subtype: 'fraud' }), bounced('5.1.3')],
        LATER,
      ).suppressed,
    ).toEqual([]);
  });

  it('a mailbox that is full does not use up the bounce that is for good; who complained before it was noted is suppressed no more', () => {
    const full = applyDeliveryEvents(
      email(recipient('a@x.example', 'delivered')),
      [fact('a@x.example', 'bounced', { subtype: '5.2.2' })],
      AT,
    );

    expect([
      full.suppressed,
      applyDeliveryEvents(full.after, [fact('a@x.example', 'bounced', { isPermanent: true, subtype: '5.2.2' })], LATER),
    ]).toMatchObject([[], { isChanged: true, suppressed: [{ origin: 'bounce' }] }]);
    expect(
      applyDeliveryEvents(email(recipient('a@x.example', 'complained')), [fact('a@x.example', 'complained')], LATER)
        .suppressed,
    ).toEqual([]);
  });

  it('knows a recipient in any case, and passes by a stranger', () => {
    const { after, isChanged } = applyDeliveryEvents(
      email(recipient('Ada@x.example')),
      [fact('ADA@X.EXAMPLE', 'delivered'), fact('eve@x.example', 'bounced')],
      AT,
    );

    expect([after.recipients[0]?.state, after.timeline.map(({ recipient: whom }) => whom), isChanged]).toEqual([
      'delivered',
      ['Ada@x.example'],
      true,
    ]);
    expect(
      applyDeliveryEvents(email(recipient('Ada@x.example')), [fact('eve@x.example', 'complained')], AT),
    ).toMatchObject({
      isChanged: false,
      suppressed: [],
    });
  });

  it('a bounce after it was delivered is a late failure; one of what was never handed over is none', () => {
    expect(
      applyDeliveryEvents(email(recipient('a@x.example', 'delivered')), [fact('a@x.example', 'bounced')], AT)
        .isLateFailure,
    ).toBe(true);
    expect(
      applyDeliveryEvents(email(recipient('a@x.example')), [fact('a@x.example', 'bounced')], AT).isLateFailure,
    ).toBe(false);
  });

  it('a report of a delay is told, and changes nothing; what an attempt puts off is not told', () => {
    const { after, isChanged } = applyDeliveryEvents(
      email(recipient('a@x.example', 'delivered')),
      [fact('a@x.example', 'deferred', { subtype: 'delayed' })],
      LATER,
    );

    expect([after.status, isChanged, after.timeline]).toMatchObject([
      'delivered',
      true,
      [{ type: 'sent', subtype: 'delayed' }],
    ]);
    expect(
      applyDeliveryEvents(
        email(recipient('a@x.example', 'sending')),
        [fact('a@x.example', 'deferred', { subtype: '4.7.1' })],
        LATER,
      ).after.timeline,
    ).toEqual([]);
  });

  it('a late delivery is told, and takes nothing back', () => {
    const { after } = applyDeliveryEvents(
      email({ ...recipient('a@x.example', 'bounced'), detail: '550' }),
      [fact('a@x.example', 'delivered')],
      LATER,
    );

    expect(after.recipients).toEqual([{ ...recipient('a@x.example', 'bounced'), detail: '550' }]);
    expect([after.status, after.timeline.map(({ type }) => type)]).toEqual(['bounced', ['delivered']]);
  });
});
