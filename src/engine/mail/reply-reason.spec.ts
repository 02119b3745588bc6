import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { recipientsOfStatus } from './delivery-status.js';
import { reasonOf, type ReplyReason } from './reply-reason.js';
import { readSesNotification } from './ses-notification.js';
import { classifyReply, type SmtpStage } from './smtp-reply.js';

type Line = readonly [reason: ReplyReason | null, stage: SmtpStage, text: string];

/*
 * Literal answers, as their providers publish them. Google: support.google.com/a/answer/3726730. Exchange Online:
 * Microsoft's "Email non-delivery reports and SMTP errors in Exchange Online". Outlook.com: postmaster.live.com. Yahoo
 * and AOL: senders.yahooinc.com/smtp-error-codes. QQ: service.mail.qq.com/detail/122. Comcast: "Understand email error
 * messages and their codes". Cox: "Email error codes". T-Online: postmaster.t-online.de. Exim: src/acl.c, src/verify.c
 * and src/smtp_in.c. Postfix: smtpd_check.c and postscreen. Several are quoted by Sisimai (lib/Sisimai/Rhost,
 * BSD-2-Clause) and smtp.codes.
 */
const PROVIDERS: Record<string, readonly Line[]> = {
  Google: [
    [
      'rate',
      'rcpt',
      '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered. For more information, please visit https://support.google.com/mail/?p=ReceivingRatePerm - gsmtp',
    ],
    [
      'rate',
      'rcpt',
      '550 5.2.1 The user you are trying to contact is receiving mail too quickly. Please resend your message at a later time.',
    ],
    ['rate', 'mail', '550 5.4.5 Daily SMTP relay sending limit exceeded for user.'],
    ['rate', 'rcpt', '550 5.4.5 Daily user sending limit exceeded.'],
    [
      'source',
      'message',
      '550 5.7.28 There is an unusual rate of unsolicited mail originating from your IP address. To protect our users from spam, mail sent from your IP address has been blocked.',
    ],
    [
      'source',
      'message',
      '550 5.7.1 Our system has detected that this message is likely suspicious due to the very low reputation of the sending IP address. To best protect our users from spam, the message has been blocked.',
    ],
    [
      'source',
      'rcpt',
      "550 5.7.1 The IP you're using to send mail is not authorized to send email directly to our servers. Please use the SMTP relay at your service provider instead.",
    ],
    [
      'source',
      'rcpt',
      '550 5.7.25 The IP address sending this message does not have a PTR record setup, or the corresponding forward DNS entry does not point to the sending IP.',
    ],
    [
      'sender',
      'message',
      '550 5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM.',
    ],
    [
      'full',
      'rcpt',
      "552 5.2.2 The recipient's inbox is out of storage space and inactive. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaPerm",
    ],
    [
      'recipient',
      'rcpt',
      "550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces.",
    ],
    [
      'recipient',
      'rcpt',
      '550 5.2.1 The email account that you tried to reach is disabled. For more information, go to https://support.google.com/mail/?p=DisabledUser',
    ],
    ['recipient', 'rcpt', '550 5.2.1 The email account that you tried to reach is inactive.'],
  ],
  'Exchange Online and Outlook.com': [
    [
      'source',
      'rcpt',
      '550 5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/ and follow the directions.',
    ],
    ['source', 'rcpt', '550 5.7.649 Access denied, banned sending IP [192.0.2.1]'],
    [
      'source',
      'rcpt',
      '550 5.7.511 Access denied, banned sender[192.0.2.1]. To request removal from this list please forward this message to delist@messaging.microsoft.com.',
    ],
    [
      'source',
      'rcpt',
      '550 5.7.513 Service unavailable, Client host [192.0.2.1] blocked by example.org using Customer Block list (AS16012607)',
    ],
    [
      'source',
      'mail',
      "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150).",
    ],
    ['source', 'rcpt', '550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP.'],
    ['source', 'rcpt', '550 5.7.506 Access Denied, Bad HELO'],
    [
      'rate',
      'rcpt',
      '550 5.2.122 The recipient has exceeded their limit for the number of messages they can receive per hour.',
    ],
    [
      'rate',
      'mail',
      "550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients",
    ],
    ['sender', 'message', '550 5.7.509 Access denied, sending domain example.com does not pass DMARC verification'],
    ['sender', 'rcpt', '550 5.1.8 Access denied, bad outbound sender'],
    [
      null,
      'rcpt',
      '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group',
    ],
    [
      'recipient',
      'rcpt',
      '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient b@example.org not found by SMTP address lookup',
    ],
    ['recipient', 'rcpt', '550 5.4.1 Recipient address rejected: Access denied. AS(201806281)'],
    ['recipient', 'rcpt', '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).'],
  ],
  'Yahoo and AOL': [
    ['rate', 'rcpt', '550 User is receiving mail too quickly'],
    [
      'rate',
      'mail',
      '553 5.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.yahooinc.com/error-codes',
    ],
    [
      'source',
      'mail',
      '553 5.7.2 [TSS09] All messages from 192.0.2.1 will be permanently deferred; Retrying will NOT succeed. See https://postmaster.yahooinc.com/error-codes',
    ],
    [
      'source',
      'mail',
      "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus's list; see http://postmaster.yahoo.com/550-bl23.html",
    ],
    [
      null,
      'message',
      '554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes',
    ],
    ['recipient', 'rcpt', "554 delivery error: dd This user doesn't have a yahoo.com account (b@yahoo.com) [0]"],
    ['recipient', 'message', '552 1 Requested mail action aborted, mailbox not found'],
    [
      'recipient',
      'rcpt',
      '554 30 Sorry, your message to b@aol.com cannot be delivered. This mailbox is disabled (554.30).',
    ],
  ],
  QQ: [
    ['rate', 'rcpt', '550 Connection frequency limited'],
    [
      'rate',
      'rcpt',
      '550 Ip frequency limited. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000725',
    ],
    ['rate', 'rcpt', '550 Domain frequency limited.'],
    ['rate', 'rcpt', '550 Sender frequency limited.'],
    ['rate', 'rcpt', '550 Mailbox unavailable or access denied'],
    ['source', 'rcpt', '550 Suspected spam ip. https://service.mail.qq.com/detail/122/66'],
    ['source', 'rcpt', '550 Suspected bounce attacks. https://service.mail.qq.com/detail/122/57'],
    ['source', 'rcpt', '550 Connection denied. https://service.mail.qq.com/detail/122/170'],
    ['sender', 'rcpt', '550 Suspected spam sender.'],
    [
      null,
      'message',
      '550 Mail content denied. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000726',
    ],
    [null, 'rcpt', '550 Mail is rejected by recipients'],
    [
      'recipient',
      'rcpt',
      '550 Mailbox not found. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000728',
    ],
    ['recipient', 'rcpt', '550 b@qq.com is a deactivated mailbox'],
  ],
  'Comcast and Cox': [
    [
      'source',
      'mail',
      '554 resimta-po-03v.sys.comcast.net comcast 192.0.2.1 found on one or more DNSBLs, see http://postmaster.comcast.net/smtp-error-codes.php#BL000001',
    ],
    ['source', 'mail', '550 5.2.0 192.0.2.1 found on residential space (ES000010)'],
    ['rate', 'rcpt', '550 5.2.0 Throttled - see http://postmaster.comcast.net/mail-error-codes.php#RL000003'],
    ['rate', 'rcpt', '552 Too many sessions opened'],
    ['source', 'rcpt', '554 cox 192.0.2.1 blocked - see http://www.cox.com/errors, listed in an RBL. AUP#IPBL0001'],
    ['rate', 'rcpt', '552 cox too many invalid recipients'],
    ['recipient', 'rcpt', '550 5.1.1 Not our Customer'],
  ],
  'T-Online': [
    [
      'source',
      'rcpt',
      '554 IP=192.0.2.1 - A problem occurred. (Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify.)',
    ],
    [
      'source',
      'rcpt',
      '554 IP=192.0.2.1 - None/bad reputation. Ask your postmaster for help or to contact tobr@rx.t-online.de for reset. (NOWL)',
    ],
    ['recipient', 'rcpt', '550 unknown or illegal user: b@t-online.de'],
  ],
  Exim: [
    ['sender', 'rcpt', '550 Verification failed for <b+token@bounce.example.com>'],
    [
      'sender',
      'rcpt',
      '550-Verification failed for <a@example.com>\n550-Called:   192.0.2.9\n550-Sent:     RCPT TO:<a@example.com>\n550-Response: 550 5.1.1 <a@example.com>: Recipient address rejected: User unknown\n550 Sender verify failed',
    ],
    ['sender', 'rcpt', '550-Verification failed for <a@example.com>\n550-No Such User Here\n550 Sender verify failed'],
    ['sender', 'rcpt', '550 Previous (cached) callout verification failure'],
    ['rate', 'rcpt', '550 Could not complete sender verify callout'],
    ['recipient', 'rcpt', '550 Unrouteable address'],
    ['recipient', 'rcpt', '550 No Such User Here'],
    ['recipient', 'rcpt', '550 Unknown user'],
  ],
  Postfix: [
    ['sender', 'rcpt', '550 5.1.1 <a@example.com>: Sender address rejected: User unknown in virtual mailbox table'],
    [
      'sender',
      'rcpt',
      '550 5.1.7 <a@example.com>: Sender address rejected: undeliverable address: host mx.example.com said: 550 5.1.1 User unknown',
    ],
    ['sender', 'rcpt', '550 5.1.8 <a@example.com>: Sender address rejected: Domain not found'],
    [
      'source',
      'rcpt',
      '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1',
    ],
    ['source', 'rcpt', '550 5.7.1 Client host rejected: cannot find your reverse hostname, [192.0.2.1]'],
    [
      'rate',
      'rcpt',
      '550 5.7.1 <b@example.org>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.org.html',
    ],
    [null, 'rcpt', '554 5.7.1 <b@example.org>: Relay access denied'],
    [
      'recipient',
      'rcpt',
      '550 5.1.1 <b@example.org>: Recipient address rejected: User unknown in local recipient table',
    ],
    [
      'recipient',
      'rcpt',
      '550 5.1.1 <b@example.org>: Recipient address rejected: undeliverable address: mail for example.org loops back to myself',
    ],
  ],
  others: [
    // Rejections that do not reveal whether the address exists.
    [null, 'rcpt', '550 Rejected'],
    [null, 'rcpt', '550 5.0.0 Not accepted'],
    [null, 'rcpt', '550'],
    ['rate', 'rcpt', '550 5.1.1 Mailbox temporarily disabled'],
    ['recipient', 'rcpt', '550 5.1.1 Please check the address and try again'],
    ['recipient', 'rcpt', "550 n'existe pas"],
    ['recipient', 'rcpt', '550 用户不存在'],
  ],
};

const ALL = Object.entries(PROVIDERS).flatMap(([provider, lines]) =>
  lines.map(([reason, stage, text]) => [provider, reason, stage, text] as const),
);
const codeOf = (text: string): number => Number(text.slice(0, 3));
const OUTCOME = {
  rate: 'deferred',
  source: 'deferred',
  full: 'deferred',
  sender: 'failed',
  recipient: 'bounced',
} as const;

describe('reasonOf', () => {
  it.each(ALL)('%s, %s at %s: %s', (_provider, reason, stage, text) => {
    expect(classifyReply({ stage, code: codeOf(text), text, recipients: 1 }).outcome).toBe(
      reason === null ? 'failed' : OUTCOME[reason],
    );
  });

  it.each(ALL)('%s, %s, in a report (RFC 3464), after %s: %s', (_provider, reason, _stage, text) => {
    const status = /^\d{3}[ -](5\.\d{1,3}\.\d{1,3}) /.exec(text)?.[1] ?? '5.0.0';
    const [recipient] = recipientsOfStatus(
      `Final-Recipient: rfc822; b@example.org\nAction: failed\nStatus: ${status}\nDiagnostic-Code: smtp; ${text.replaceAll('\n', '\n ')}\n`,
    );

    expect(recipient).toMatchObject({ outcome: 'failed', isPermanent: reason === 'recipient' });
  });

  it.each(ALL)(
    '%s, %s, in an Amazon SES notification of a permanent bounce, after %s: %s',
    (_provider, reason, _stage, text) => {
      const bounce = {
        bounceType: 'Permanent',
        bounceSubType: 'General',
        bouncedRecipients: [
          {
            emailAddress: 'b@example.org',
            action: 'failed',
            diagnosticCode: `smtp; ${text}`,
            ...(/^\d{3}[ -]5\./.test(text) && { status: text.slice(4).split(' ')[0] }),
          },
        ],
      };

      expect(
        readSesNotification(JSON.stringify({ eventType: 'Bounce', mail: { messageId: '1' }, bounce }))?.facts,
      ).toMatchObject([{ kind: 'bounced', isPermanent: reason === 'recipient' }]);
    },
  );

  it.each(['exceeded ', 'sender ', 'mailbox ', 'user ', 'your ip ', 'not listed in ', 'a'])(
    'takes linear time for "%s" repeated',
    async (part) => {
      const text = part.repeat(96_000 / part.length);

      expect(['rate', 'source', 'sender', 'recipient', 'full', null]).toContain(reasonOf(null, text));
      expect(await growthOf(text, (reply) => reasonOf(null, reply))).toBeLessThan(LINEAR);
    },
  );
});
