import { readSesNotification, type SesNotification } from './ses-notification.js';

/**
 * Samples from Amazon's "Contents of event data that SES publishes to SNS" and "SNS notification contents for SES",
 * shortened.
 */
const MAIL = {
  timestamp: '2016-10-14T05:02:16.645Z',
  source: 'sender@example.com',
  sourceArn: 'arn:aws:ses:us-east-1:123456789012:identity/sender@example.com',
  sendingAccountId: '123456789012',
  messageId: 'EXAMPLE7c191be45-e9aedb9a-02f9-4d12-a87d-dd0099a07f8a-000000',
  destination: ['recipient@example.com', 'other@example.com'],
  headersTruncated: false,
  headers: [
    { name: 'From', value: 'sender@example.com' },
    { name: 'Message-ID', value: '<evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1@example.com>' },
  ],
  commonHeaders: {
    from: ['sender@example.com'],
    messageId: 'EXAMPLE7c191be45-e9aedb9a-02f9-4d12-a87d-dd0099a07f8a-000000',
    subject: 'Message sent using Amazon SES',
  },
  tags: { 'ses:configuration-set': ['ConfigSet'], posthorn_email: ['evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] },
};
const BOUNCE = {
  bounceType: 'Permanent',
  bounceSubType: 'General',
  bouncedRecipients: [
    {
      emailAddress: 'recipient@example.com',
      action: 'failed',
      status: '5.1.1',
      diagnosticCode: 'smtp; 550 5.1.1 user unknown',
    },
  ],
  timestamp: '2016-10-14T05:02:52.574Z',
  feedbackId: 'EXAMPLE',
  reportingMTA: 'dsn; mta.example.com',
};
const COMPLAINT = {
  complainedRecipients: [{ emailAddress: 'recipient@example.com' }],
  timestamp: '2017-08-05T00:41:02.669Z',
  feedbackId: 'EXAMPLE',
  complaintSubType: null,
  userAgent: 'ExampleCorp Feedback Loop (V0.01)',
  complaintFeedbackType: 'abuse',
};
const DELIVERY = {
  timestamp: '2016-10-19T23:21:04.133Z',
  processingTimeMillis: 11893,
  recipients: ['recipient@example.com'],
  smtpResponse: '250 2.6.0 Message received',
  reportingMTA: 'mta.example.com',
};
const DELAY = {
  delayType: 'TransientCommunicationFailure',
  expirationTime: '2020-06-16T00:25:40.914Z',
  delayedRecipients: [
    {
      emailAddress: 'recipient@example.com',
      status: '4.4.1',
      diagnosticCode: 'smtp; 421 4.4.1 Unable to connect to remote host',
    },
  ],
};

const read = (fields: object): SesNotification | null => readSesNotification(JSON.stringify({ mail: MAIL, ...fields }));

describe('readSesNotification', () => {
  it.each([['eventType'], ['notificationType']])('parses the content of both formats: %s', (word) => {
    const facts = (type: string, fields: object) => read({ [word]: type, ...fields })?.facts;

    expect(facts('Bounce', { bounce: BOUNCE })).toEqual([
      {
        address: 'recipient@example.com',
        kind: 'bounced',
        subtype: '5.1.1',
        detail: '550 5.1.1 user unknown',
        isPermanent: true,
      },
    ]);
    expect(facts('Complaint', { complaint: COMPLAINT })).toEqual([
      {
        address: 'recipient@example.com',
        kind: 'complained',
        subtype: 'abuse',
        detail: 'ExampleCorp Feedback Loop (V0.01)',
        isPermanent: false,
      },
    ]);
    expect(facts('Delivery', { delivery: DELIVERY })).toEqual([
      {
        address: 'recipient@example.com',
        kind: 'delivered',
        subtype: null,
        detail: '250 2.6.0 Message received',
        isPermanent: false,
      },
    ]);
  });

  it('a transient or undetermined bounce rejects no address permanently', () => {
    const bounced = (bounceType: string) =>
      read({
        eventType: 'Bounce',
        bounce: {
          bounceType,
          bounceSubType: 'MailboxFull',
          bouncedRecipients: [{ emailAddress: 'Ada <recipient@example.com>' }],
        },
      })?.facts;

    expect(bounced('Transient')).toEqual([
      {
        address: 'recipient@example.com',
        kind: 'bounced',
        subtype: 'transient',
        detail: 'Transient: MailboxFull',
        isPermanent: false,
      },
    ]);
    expect(bounced('Undetermined')).toMatchObject([{ kind: 'bounced', isPermanent: false }]);
  });

  it('recognizes a delay, applies a rejection to all recipients, and does not count "not spam" as a complaint', () => {
    expect(read({ eventType: 'DeliveryDelay', deliveryDelay: DELAY })?.facts).toEqual([
      {
        address: 'recipient@example.com',
        kind: 'deferred',
        subtype: 'delayed',
        detail: 'smtp; 421 4.4.1 Unable to connect to remote host',
        isPermanent: false,
      },
    ]);
    expect(read({ eventType: 'Reject', reject: { reason: 'Bad content' } })?.facts).toMatchObject([
      { address: 'recipient@example.com', kind: 'rejected', detail: 'Bad content' },
      { address: 'other@example.com', kind: 'rejected' },
    ]);
    expect(
      read({
        eventType: 'Rendering Failure',
        failure: { errorMessage: "Attribute 'x' is not present", templateName: 'T' },
      })?.facts,
    ).toMatchObject([{ kind: 'rejected', subtype: 'rendering' }, { kind: 'rejected' }]);
    expect(
      read({ notificationType: 'Complaint', complaint: { ...COMPLAINT, complaintFeedbackType: 'not-spam' } })?.facts,
    ).toEqual([]);
  });

  it('has no facts for types that change nothing, and returns null for other texts', () => {
    for (const eventType of ['Send', 'Open', 'Click', 'Subscription', 'Something New'])
      expect(read({ eventType })?.facts).toEqual([]);
    for (const text of [
      '',
      '{',
      '[]',
      'null',
      '{"notificationType":"Bounce"}',
      '"Successfully validated SNS topic for Amazon SES event publishing."',
      '{"mail":{"messageId":"x"}}',
    ]) {
      expect(readSesNotification(text)).toBeNull();
    }
    for (const bounce of [
      null,
      [],
      'x',
      { bouncedRecipients: 'x' },
      { bouncedRecipients: [null, 1, {}, { emailAddress: 7 }] },
    ])
      expect(read({ eventType: 'Bounce', bounce })?.facts).toEqual([]);
  });

  it("identifies the email by Posthorn's tag and Message-ID", () => {
    expect(read({ eventType: 'Send' })?.about).toEqual({
      emailIds: ['evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
      source: 'sender@example.com',
      sesId: MAIL.messageId,
      messageIds: ['evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1@example.com', MAIL.messageId],
    });
  });
});
