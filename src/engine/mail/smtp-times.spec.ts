import { conversationMsMax, RFC_WAITS_MS, type SmtpWait, waitAfter, waitMs } from './smtp-times.js';

const TEN_MINUTES_MS = 600_000;

describe('SMTP time limits', () => {
  it.each<[section: string, SmtpWait, minutes: number]>([
    ['4.5.3.2.1', 'greeting', 5],
    ['4.5.3.2.2', 'mail', 5],
    ['4.5.3.2.3', 'rcpt', 5],
    ['4.5.3.2.4', 'data', 2],
    ['4.5.3.2.5', 'block', 3],
    ['4.5.3.2.6', 'final-dot', 10],
  ])('RFC 5321, section %s: %s, %d minutes, or less if the operator configures less', (_section, wait, minutes) => {
    expect([RFC_WAITS_MS[wait], waitMs(wait, TEN_MINUTES_MS), waitMs(wait, 30_000)]).toEqual([
      minutes * 60_000,
      minutes * 60_000,
      30_000,
    ]);
  });

  it.each<[string, SmtpWait]>([
    ['EHLO mail.example.com', 'command'],
    ['STARTTLS', 'command'],
    ['AUTH PLAIN', 'command'],
    ['MAIL FROM:<a@example.com>', 'mail'],
    ['RCPT TO:<b@example.org>', 'rcpt'],
    ['DATA', 'data'],
    ['RSET', 'command'],
  ])('after %s: %s', (command, wait) => {
    expect(waitAfter(command)).toBe(wait);
  });

  it('a whole conversation takes at most twice the longest reply', () => {
    expect(conversationMsMax(TEN_MINUTES_MS)).toBe(1_200_000);
  });
});
