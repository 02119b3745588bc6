import type { MailReport } from '#engine/mail/reports.js';
import { reportedFacts } from './reported-facts.js';

const report = (more: Partial<MailReport>): MailReport => ({
  kind: 'bounce',
  recipients: [],
  unnamed: null,
  complainants: [],
  complaint: null,
  about: { returnPaths: [], messageIds: [], signatures: [] },
  ...more,
});
const failed = (...addresses: string[]) => ({
  addresses,
  outcome: 'failed' as const,
  status: '5.1.1',
  isPermanent: true,
  detail: '550 no',
});

describe('reportedFacts', () => {
  it("returns a recipient in the email's spelling, found by the original or the final address", () => {
    const { facts } = reportedFacts(report({ recipients: [failed('ada@forwards.example', 'ADA@X.example')] }), [
      'Ada@x.example',
      'bob@x.example',
    ]);

    expect(facts).toEqual([
      { address: 'Ada@x.example', kind: 'bounced', subtype: '5.1.1', detail: '550 no', isPermanent: true },
    ]);
  });

  it('ignores unknown recipients, and reports if there are no others', () => {
    expect(
      reportedFacts(report({ recipients: [failed('eve@y.example'), failed('ada@x.example')] }), ['ada@x.example'])
        .facts,
    ).toHaveLength(1);
    expect(reportedFacts(report({ recipients: [failed('eve@y.example')] }), ['ada@x.example'])).toEqual({
      facts: [],
      isOfStrangers: true,
    });
  });

  it('a report without recipients applies to the only recipient, never permanently', () => {
    expect(reportedFacts(report({ unnamed: 'failed' }), ['ada@x.example']).facts).toMatchObject([
      { address: 'ada@x.example', kind: 'bounced', subtype: 'temporary', isPermanent: false },
    ]);
    expect(reportedFacts(report({ unnamed: 'failed' }), ['ada@x.example', 'bob@x.example'])).toEqual({
      facts: [],
      isOfStrangers: true,
    });
  });

  it('relayed and expanded add no fact, delayed and delivered add theirs', () => {
    const said = (outcome: 'relayed' | 'expanded' | 'delayed' | 'delivered') =>
      reportedFacts(report({ recipients: [{ ...failed('ada@x.example'), outcome, isPermanent: false }] }), [
        'ada@x.example',
      ]).facts.map(({ kind, subtype }) => [kind, subtype]);

    expect([said('relayed'), said('expanded'), said('delayed'), said('delivered')]).toEqual([
      [],
      [],
      [['deferred', 'delayed']],
      [['delivered', null]],
    ]);
  });

  it('a complaint without a recipient applies to the only recipient, and to none of several', () => {
    const complaint = { kind: 'complaint' as const, complaint: 'abuse' };

    expect(
      reportedFacts(report({ ...complaint, complainants: ['redacted@fbl.example'] }), ['ada@x.example']).facts,
    ).toMatchObject([{ address: 'ada@x.example', kind: 'complained', subtype: 'abuse' }]);
    expect(
      reportedFacts(report({ ...complaint, complainants: ['bob@x.example'] }), ['ada@x.example', 'bob@x.example'])
        .facts,
    ).toMatchObject([{ address: 'bob@x.example' }]);
    expect(reportedFacts(report(complaint), ['ada@x.example', 'bob@x.example'])).toEqual({
      facts: [],
      isOfStrangers: true,
    });
  });

  it('an automatic answer and any other message add no fact', () => {
    for (const kind of ['auto-reply', 'other'] as const)
      expect(reportedFacts(report({ kind }), ['ada@x.example'])).toEqual({ facts: [], isOfStrangers: false });
  });
});
