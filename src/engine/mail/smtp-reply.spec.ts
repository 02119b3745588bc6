import { classifyReply, cleanReply, retryAfterOf, type SmtpStage } from './smtp-reply.js';

/** Expected outcome, stage and text of a reply, and its number of recipients. The texts are from well-known servers. */
const REPLIES: [outcome: string, stage: SmtpStage, text: string, recipients?: number][] = [
  ['accepted', 'message', '250 2.0.0 Ok: queued as 4F1A'],
  ['accepted', 'rcpt', '251 User not local; will forward to <b@example.org>'],
  // The reply rejects the address.
  [
    'bounced',
    'rcpt',
    "550-5.1.1 The email account that you tried to reach does not exist. Please try\n550-5.1.1 double-checking the recipient's email address for typos\n550 5.1.1 x - gsmtp",
  ],
  ['bounced', 'rcpt', '550 5.1.1 <b@example.org>: Recipient address rejected: User unknown in virtual mailbox table'],
  ['bounced', 'rcpt', '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup'],
  ['bounced', 'rcpt', '550 5.4.1 Recipient address rejected: Access denied. AS(201806281)'],
  ['bounced', 'rcpt', '550 5.2.1 The email account that you tried to reach is disabled.'],
  ['bounced', 'rcpt', '550 Requested action not taken: mailbox unavailable'],
  ['bounced', 'rcpt', '553 sorry, no mailbox here by that name. (#5.7.1)'],
  ['bounced', 'rcpt', "554 delivery error: dd This user doesn't have a yahoo.com account (b@yahoo.com) [0] - mta1"],
  ['bounced', 'rcpt', '550 No such user here'],
  ['bounced', 'rcpt', '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302)'],
  ['bounced', 'rcpt', '551 User not local; please try <b@example.net>'],
  ['bounced', 'rcpt', '556 5.1.10 Recipient address has null MX'],
  ['bounced', 'rcpt', '550 unrouteable address'],
  ['bounced', 'message', '550 5.1.1 User unknown', 1],
  ['bounced', 'message', '552 5.1.1 no mailbox by that name is currently available', 1],
  // The reply rejects an address without naming it, and there are several recipients.
  ['failed', 'message', '550 5.1.1 User unknown', 2],
  // The reply rejects the message or its sender, or says that a policy forbids the message.
  ['failed', 'mail', '550 5.1.8 <a@example.com>: Sender address rejected: Domain not found'],
  ['failed', 'mail', '553 5.7.1 Sender address rejected: not owned by user'],
  ['failed', 'mail', '550 User unknown'],
  ['failed', 'mail', '552 5.3.4 Message size exceeds fixed limit'],
  ['failed', 'rcpt', '554 5.7.1 <b@example.org>: Relay access denied'],
  ['failed', 'rcpt', '550 5.7.1 Recipient rejected by policy'],
  ['failed', 'rcpt', '550 5.1.0 Address rejected by sender policy'],
  ['failed', 'rcpt', '554 Transaction failed'],
  ['failed', 'rcpt', '550 5.1.1.7 is not welcome'],
  [
    'failed',
    'message',
    '550-5.7.26 This message does not pass authentication checks (SPF and DKIM both\n550 5.7.26 do not pass). gsmtp',
    1,
  ],
  ['failed', 'message', '554 5.7.1 Message rejected as spam by Content Filtering.', 1],
  [
    'failed',
    'message',
    '552-5.7.0 This message was blocked because its content presents a potential\n552 5.7.0 security issue.',
    1,
  ],
  ['failed', 'message', '552 5.2.3 Message exceeds maximum fixed size (10240000)', 1],
  ['failed', 'message', '554 5.6.0 Message content rejected', 1],
  ['failed', 'message', '550 5.4.6 Mail loop detected', 1],
  ['failed', 'data', '500 5.5.1 Command unrecognized', 1],
  ['failed', 'message', '554 Email rejected due to security policies', 1],
  [
    'deferred',
    'rcpt',
    '450 4.2.0 <b@example.org>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.org.html',
  ],
  ['deferred', 'rcpt', '452 4.2.2 The email account that you tried to reach is over quota.'],
  ['deferred', 'rcpt', '550 5.2.2 Mailbox full'],
  ['deferred', 'rcpt', '552 Requested mail action aborted: exceeded storage allocation, mailbox full'],
  ['deferred', 'rcpt', '450 5.1.1 User unknown'],
  ['deferred', 'rcpt', '450 4.1.2 Recipient address rejected: Domain not found'],
  ['deferred', 'message', '451 4.3.0 Temporary lookup failure', 1],
  ['deferred', 'message', '503 5.5.1 Bad sequence of commands', 1],
  ['deferred', 'data', '451 try later', 3],
  // The reply code is permanent, but the cause is the source of the message.
  ['deferred', 'rcpt', '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org'],
  ['deferred', 'mail', '550 5.7.1 Service unavailable, Client host [192.0.2.1] blocked using Spamhaus'],
  ['deferred', 'rcpt', '550 5.7.25 The IP address sending this message does not have a PTR record setup'],
  ['deferred', 'rcpt', '550 rejected: reverse DNS lookup failed'],
  [
    'deferred',
    'message',
    '550-5.7.1 Our system has detected an unusual rate of unsolicited mail originating from\n550-5.7.1 your IP address. To protect our users from spam, mail sent from your IP\n550 5.7.1 address has been blocked.',
    1,
  ],
  ['deferred', 'rcpt', '550 5.7.1 Your IP 192.0.2.1 is in a black list'],
  ['deferred', 'message', '550 5.4.5 Daily user sending limit exceeded', 1],
  ['deferred', 'message', '554 Message not allowed - poor sender reputation', 1],
  ['deferred', 'rcpt', '521 5.2.1 : Your IP: rejected (DNSBL:ATLBL 521)< 192.0.2.1 >'],
];

describe('classifyReply', () => {
  it.each(REPLIES)('%s at %s: %s', (outcome, stage, text, recipients = 1) => {
    expect(classifyReply({ stage, text, code: Number(text.slice(0, 3)), recipients })).toMatchObject({
      outcome,
      isUnreachable: false,
    });
  });

  it.each<[SmtpStage, string]>([
    ['connect', '554 5.7.1 No SMTP service here'],
    ['connect', '421 4.3.2 Service shutting down'],
    ['auth', '535 5.7.8 Authentication credentials invalid'],
    ['auth', '454 4.7.0 Temporary authentication failure'],
    ['mail', '530 5.7.0 Must issue a STARTTLS command first'],
    ['mail', '530 5.7.1 Authentication required'],
  ])('classifies %s %s as unreachable', (stage, text) => {
    expect(classifyReply({ stage, text, code: Number(text.slice(0, 3)), recipients: 1 })).toMatchObject({
      outcome: 'deferred',
      isUnreachable: true,
    });
  });

  it.each<[string, boolean]>([
    ['421 4.7.0 Try again later, closing connection.', true],
    ['454 Throttling failure: Maximum sending rate exceeded.', true],
    ['452 4.5.3 Too many recipients', true],
    ['450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents delivery', true],
    ['451 4.3.0 Temporary lookup failure', false],
    ['550 5.1.1 rate unknown user', false],
  ])('detects whether the server asks for less traffic: %s', (text, isThrottled) => {
    expect(classifyReply({ stage: 'rcpt', text, code: Number(text.slice(0, 3)), recipients: 1 })).toMatchObject({
      isThrottled,
    });
  });

  it.each<[string, string | null]>([
    ['550 5.1.1 User unknown', '5.1.1'],
    ['550-5.7.26 This\n550 5.7.26 that', '5.7.26'],
    ['550 User unknown', null],
    ['450 5.1.1 User unknown', null],
    ['550 see rfc 5.1.1', null],
    ['250 2.0.0 Ok', '2.0.0'],
    ['550 5.1.1234 x', null],
  ])('finds the enhanced code of %s', (text, enhanced) => {
    expect(classifyReply({ stage: 'rcpt', text, code: Number(text.slice(0, 3)), recipients: 1 }).enhanced).toBe(
      enhanced,
    );
  });

  it('a missing reply is deferred', () => {
    expect(classifyReply({ stage: 'message', code: 0, text: '', recipients: 1 })).toEqual({
      outcome: 'deferred',
      enhanced: null,
      isThrottled: false,
      isUnreachable: false,
      retryAfterMs: null,
    });
  });
});

describe('retryAfterOf', () => {
  it.each<[string, number | null]>([
    ['450 4.2.0 Greylisted, please try again in 180 seconds', 180_000],
    ['451 Greylisted, try again in 5 minutes', 300_000],
    ['450 please wait 300 s', 300_000],
    ['451 4.7.1 Greylisting in action, please come back after 1 hour', 3_600_000],
    ['450 Greylisted for 2 mins', 120_000],
    ['451 greylisted: come back in 00:05:00', 300_000],
    ['451 try again in 99999 hours', 86_400_000],
    ['450 try again later', null],
    ['450 4.2.0 greylisted', null],
    ['451 in 5 steps', null],
  ])('of %s', (text, ms) => {
    expect(retryAfterOf(text)).toBe(ms);
  });
});

describe('cleanReply', () => {
  it('joins lines and removes control characters', () => {
    expect(cleanReply('550-5.7.26 This\r\n550-5.7.26 is\n550 5.7.26 it\0\x1b\u202e[31m')).toBe(
      '550-5.7.26 This is it [31m',
    );
    expect(cleanReply('x'.repeat(3000))).toHaveLength(1024);
  });
});
