import { answerFrom, platformRecords, platformZone, receivingName, zoneLine } from './platform-zone.js';

const FACTS = {
  domain: 'posthorn.example',
  addresses: ['192.0.2.1', '2001:db8::1'],
  spf: 'include:amazonses.com',
  dkim: [
    { selector: 'ph1', publicKey: 'A'.repeat(392) },
    { selector: 'ph2', publicKey: 'B'.repeat(392) },
  ],
};
const zone = platformZone(FACTS, 7);
const found = (name: string, type: string): string[] | string => {
  const answer = answerFrom(zone, name, type);
  return answer.code === 'refused' || answer.records.length === 0
    ? answer.code
    : answer.records.map((record) => zoneLine(record).split(' IN ')[1] ?? '');
};

describe('receivingName', () => {
  it.each([
    ['mail.a.example', 'posthorn.example', 'mail.a.example'],
    [null, 'posthorn.example', 'mx.posthorn.example'],
    [null, 'localhost', 'localhost'],
  ])('SMTP_NAME %s at %s is %s', (smtpName, platformDomain, name) => {
    expect(receivingName({ smtpName, platformDomain })).toBe(name);
  });
});

describe('platformRecords', () => {
  it('are the records that the operator publishes, as lines of a zone file', () => {
    expect(platformRecords(FACTS).map(zoneLine)).toEqual([
      'posthorn.example. 3600 IN A 192.0.2.1',
      'posthorn.example. 3600 IN AAAA 2001:db8::1',
      'mx.posthorn.example. 3600 IN A 192.0.2.1',
      'mx.posthorn.example. 3600 IN AAAA 2001:db8::1',
      'posthorn.example. 3600 IN MX 10 mx.posthorn.example.',
      'posthorn.example. 3600 IN TXT "v=spf1 include:spf.posthorn.example ~all"',
      'spf.posthorn.example. 3600 IN TXT "v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 include:amazonses.com ~all"',
      'bounce.posthorn.example. 3600 IN MX 10 mx.posthorn.example.',
      'bounce.posthorn.example. 3600 IN TXT "v=spf1 include:spf.posthorn.example ~all"',
      `ph1._domainkey.posthorn.example. 3600 IN TXT "v=DKIM1; k=rsa; p=${'A'.repeat(237)}" "${'A'.repeat(155)}"`,
      `ph2._domainkey.posthorn.example. 3600 IN TXT "v=DKIM1; k=rsa; p=${'B'.repeat(237)}" "${'B'.repeat(155)}"`,
    ]);
  });
});

describe('answerFrom', () => {
  it.each<[string, string, string[] | string]>([
    ['posthorn.example', 'SOA', ['SOA ns1.posthorn.example. hostmaster.posthorn.example. 7 7200 900 1209600 300']],
    ['posthorn.example', 'NS', ['NS ns1.posthorn.example.', 'NS ns2.posthorn.example.']],
    ['PostHorn.Example.', 'MX', ['MX 10 mx.posthorn.example.']],
    ['ns2.posthorn.example', 'A', ['A 192.0.2.1']],
    ['posthorn.example', 'ANY', ['NS ns1.posthorn.example.', 'NS ns2.posthorn.example.']],
    ['mx.posthorn.example', 'TXT', 'fine'],
    ['_domainkey.posthorn.example', 'TXT', 'fine'],
    ['nobody.posthorn.example', 'A', 'absent'],
    ['notposthorn.example', 'A', 'refused'],
    ['example', 'NS', 'refused'],
    ['', 'NS', 'refused'],
  ])('%s %s', (name, type, expected) => {
    expect(found(name, type)).toEqual(expected);
  });
});
