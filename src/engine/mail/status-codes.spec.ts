import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { replyCodeIn, statusIn, statusOfField } from './status-codes.js';

describe('statusIn', () => {
  it.each<[string, string | null]>([
    ['550 5.1.1 User unknown', '5.1.1'],
    ['550-5.1.1 The email account', '5.1.1'],
    ['#5.1.0 Address rejected ada@example.org', '5.1.0'],
    ['#< #5.1.1 smtp;550 Unknown user>', '5.1.1'],
    ['smtp;550 5.7.26 It does not pass', '5.7.26'],
    ['(status=5.1.1, said nothing)', '5.1.1'],
    ['The remote server: 5.1.10#SMTP#', '5.1.10'],
    ['The code is 5.2.2.', '5.2.2'],
    ['host mx.example.org [192.5.1.1]: 550 Administrative prohibition', null],
    ['host mx.example.org [5.1.1.7]: 550 Administrative prohibition', null],
    ['host mx.example.org [::ffff:5.1.1.7]: 550 Administrative prohibition', null],
    ['550 The network 5.1.1.0/24 is blocked', null],
    ['550 The network 5.1.1/24 is blocked', null],
    ['550 host 7.1.1.5.in-addr.arpa has no PTR', null],
    ['550 client-5.1.1.dsl.example.net is dynamic', null],
    ['550 see https://example.org/codes/5.1.1', null],
    ['550 Postfix 2.5.1 refuses', null],
    ['Mailman version 2.1.9: not a member', null],
    ['Exim/4.2.1 refuses', null],
    ['RFC 5321 section 4.2.1 forbids it', null],
    ['On 5.11.2026 the mailbox was closed', null],
    ['host [192.5.1.1]: 550 5.7.1 Blocked', '5.7.1'],
    ['', null],
  ])('%s: %s', (text, expected) => {
    expect(statusIn(text)).toBe(expected);
  });
});

describe('statusOfField', () => {
  it.each<[string, string | null]>([
    ['5.1.1', '5.1.1'],
    [' 5.1.1 (bad destination mailbox address)', '5.1.1'],
    ['5.123.456', '5.123.456'],
    ['192.5.1.1', null],
    ['5.1.1.7', null],
    ['failed', null],
  ])('%s: %s', (value, expected) => {
    expect(statusOfField(value)).toBe(expected);
  });
});

describe('replyCodeIn', () => {
  it.each<[string, number | null]>([
    ['550 5.1.1 User unknown', 550],
    ['Remote host said: 550 no such user', 550],
    ['Remote host said:550 no such user', 550],
    ['<<< 554 refused', 554],
    ['#550-refused', 550],
    ['host mx.example.org [2001:db8:550::1]: 451 Try later', 451],
    ['host mx.example.org [2001:db8::550:1]: 451 Try later', 451],
    ['connect to mx.example.org[192.0.2.1]:587: Connection timed out', null],
    ['connect to port 450 : refused', null],
    ['host mail-550 refused', null],
    ['550-ada@example.org is unknown', null],
    ['retried for 450 seconds', null],
    ['the message has 550 bytes', null],
    ['571 Delivery not authorized', 571],
    ['connection to port 587 - refused', null],
    ['', null],
  ])('%s: %s', (text, expected) => {
    expect(replyCodeIn(text)?.code ?? null).toBe(expected);
  });

  it.each(['5.1.1', '550-', 'aaaa:', '5'])('searches many repetitions of %s in linear time', async (part) => {
    const long = part.repeat(80_000 / part.length);

    expect(await growthOf(long, (text) => [statusIn(text), replyCodeIn(text)])).toBeLessThan(LINEAR);
  });
});
