import type { EmailFact } from './contract.js';
import { applyDeliveryEvents } from './delivery-events.js';
import type { StoredRecipient } from './email.entities.js';

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

describe('applyDeliveryEvents', () => {
  it('updates each recipient separately, and sets the email to the worst status', () => {
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

  it('changes nothing when applied again', () => {
    const facts = [
      fact('a@x.example', 'sent'),
      fact('a@x.example', 'bounced', { isPermanent: true, subtype: '5.1.1' }),
    ];
    const once = applyDeliveryEvents(email(recipient('a@x.example')), facts, AT);

    const twice = applyDeliveryEvents(once.after, facts, LATER);

    expect([twice.isChanged, twice.after, twice.news]).toEqual([false, once.after, []]);
  });

  it('reports a bounce once even if it is repeated in other words; the address is suppressed once for it, and once more for a complaint', () => {
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

  it('a full mailbox does not prevent a suppression by a later permanent bounce; a complaint of an older build is not suppressed again', () => {
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

  it('matches a recipient in any case, and ignores an unknown address', () => {
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

  it('a bounce after the handover is a late failure; a bounce before it is not', () => {
    expect(
      applyDeliveryEvents(email(recipient('a@x.example', 'delivered')), [fact('a@x.example', 'bounced')], AT)
        .isLateFailure,
    ).toBe(true);
    expect(
      applyDeliveryEvents(email(recipient('a@x.example')), [fact('a@x.example', 'bounced')], AT).isLateFailure,
    ).toBe(false);
  });

  it('a reported delay appears in the timeline without a change of status; a deferral by an attempt does not appear', () => {
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

  it('a late delivery report appears in the timeline and changes no status', () => {
    const { after } = applyDeliveryEvents(
      email({ ...recipient('a@x.example', 'bounced'), detail: '550' }),
      [fact('a@x.example', 'delivered')],
      LATER,
    );

    expect(after.recipients).toEqual([{ ...recipient('a@x.example', 'bounced'), detail: '550' }]);
    expect([after.status, after.timeline.map(({ type }) => type)]).toEqual(['bounced', ['delivered']]);
  });
});
