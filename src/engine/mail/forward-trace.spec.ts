import { authenticationResults, forwardTrace, noForwardReason } from './forward-trace.js';
import { fieldsOf } from './message-head.js';

const ALIAS = { id: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', address: 'help@in.example' };
const OTHER = 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B2';
const reasonOf = (headers: string): string | null => noForwardReason(fieldsOf(Buffer.from(headers)), ALIAS);
const stamp = (id: string): string => `X-Posthorn-Forwarded: ${id};\r\n b+rx@bounce.in.example\r\n`;

describe('noForwardReason', () => {
  it('a message, an automatic message, and a message of another alias are forwarded', () => {
    expect(reasonOf('Subject: x\r\n')).toBeNull();
    expect(reasonOf('Auto-Submitted: auto-generated\r\n')).toBeNull();
    expect(reasonOf(stamp(OTHER) + stamp(OTHER))).toBeNull();
  });

  it.each([
    ['the stamp of the alias', stamp(OTHER) + stamp(ALIAS.id)],
    ['three stamps', stamp(OTHER).repeat(3)],
    ['an automatic message with a stamp', `${stamp(OTHER)}Auto-Submitted: auto-replied\r\n`],
    ['the address of the alias in X-Loop', 'X-Loop: HELP@in.example\r\n'],
    ['51 servers', 'Received: from a by b; x\r\n'.repeat(51)],
  ])('%s is a loop', (_case, headers) => {
    expect(reasonOf(headers)).toEqual(expect.any(String));
  });

  it('recognizes the stamp that it writes', () => {
    const trace = {
      ownName: 'mx.in.example',
      helo: 'evil\r\nBcc: x',
      clientIp: '2001:db8::1',
      messageId: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      aliasId: ALIAS.id,
      receivedAt: new Date('2026-11-27T02:00:00Z'),
      returnPath: 'b+rabc@bounce.in.example',
    };

    const written = forwardTrace(trace);

    expect(reasonOf(written)).toMatch('mail loop');
    expect(written.split('\r\n')).toEqual([
      `X-Posthorn-Forwarded: ${ALIAS.id};`,
      ' b+rabc@bounce.in.example',
      'Received: from unknown ([IPv6:2001:db8::1])',
      ' by mx.in.example with ESMTP id evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1;',
      ' Fri, 27 Nov 2026 02:00:00 +0000',
      '',
    ]);
  });
});

describe('authenticationResults', () => {
  it('has one DKIM result for each domain that signed', () => {
    const results = { spf: 'none', dkim: 'pass', dmarc: 'pass', arc: 'none' } as const;

    expect(
      authenticationResults(
        'mx.in.example',
        { ...results, dkimDomains: ['b.example', 'esp.example'] },
        { envelopeFrom: '', fromAddress: 'a@b.example' },
      ),
    ).toBe(
      'mx.in.example;\r\n spf=none;\r\n dkim=pass header.d=b.example;\r\n dkim=pass header.d=esp.example;\r\n dmarc=pass header.from=b.example;\r\n arc=none',
    );
  });

  it('omits a domain that could break the header', () => {
    const verdicts = { spf: 'pass', dkim: 'fail', dkimDomains: ['x;y'], dmarc: 'none', arc: 'none' } as const;

    expect(
      authenticationResults('mx.in.example', verdicts, { envelopeFrom: 'a@b.example', fromAddress: 'a@x;y' }),
    ).toBe('mx.in.example;\r\n spf=pass smtp.mailfrom=b.example;\r\n dkim=fail;\r\n dmarc=none;\r\n arc=none');
  });
});
