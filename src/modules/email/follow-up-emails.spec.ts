import type { Clock } from '#kernel/clock.js';
import { AlreadyAnswered } from '#kernel/idempotency.js';
import type { Id } from '#kernel/ids.js';
import type { Tracing } from '#kernel/observability/tracing.js';
import type { Ledger } from '#modules/ledger/ledger.js';
import { AcceptEmail } from './accept-email.js';
import type { EmailMetrics } from './email.metrics.js';
import type { EmailComposition } from './email-composition.js';
import type { EmailDestination } from './email-destination.js';
import type { EmailInserts } from './email-inserts.js';
import type { EmailsStore } from './emails.store.js';
import { FollowUpEmails } from './follow-up-emails.js';

const EMAIL_ID = '019aa4c0-0000-7000-8000-000000000001' as Id;
const MESSAGE = { environmentId: 7, id: '019aa4c0-0000-7000-8000-000000000000' as Id, expiresOnDay: 20_800 };
const IDENTITY = { returnPathHost: null, isCaptured: false };
const COPY = {
  address: 'ops@target.example',
  from: 'ada@author.example',
  subject: 'Hello',
  messageId: '',
  originalSender: '',
  attachments: [],
  raw: Buffer.from('Subject: Hello\r\n\r\n'),
};

const ROW = { inserts: { insertsOf: () => [] }, row: {}, bytes: 0 };

/** Returns the service with `ledger` as its ledger, and a log of the actions performed. */
function over(ledger: Ledger['accept'], isAccepted = false): { emails: FollowUpEmails; done: string[] } {
  const done: string[] = [];
  const unused = undefined as never;
  const accepting = new AcceptEmail(
    unused,
    unused,
    unused,
    unused,
    unused,
    unused,
    {
      storeSeparately: async () => void done.push('prepared'),
      rowOf: () => ROW,
      forget: () => void done.push('forgotten'),
    } as unknown as EmailInserts,
    unused,
    { forEnvironment: async () => EMAIL_ID } as unknown as EmailDestination,
    { accept: ledger } as unknown as Ledger,
    unused,
    { accepted: () => void done.push('counted') } as unknown as EmailMetrics,
    {
      startAccept: () => ({ traceparent: null, during: (work: unknown) => work, end: () => undefined }),
    } as unknown as Tracing,
    unused,
    unused,
    unused,
  );
  const store = { find: async () => (isAccepted ? {} : null) } as unknown as EmailsStore;
  const clock = { now: () => new Date(0) } as Clock;
  return { emails: new FollowUpEmails({} as EmailComposition, store, accepting, clock), done };
}

describe('FollowUpEmails', () => {
  it('stores an email together with its event, and counts it', async () => {
    const { emails, done } = over(
      async ({ row }) => void done.push(row === ROW ? 'accepted with its row' : 'accepted'),
    );

    await emails.forward(MESSAGE, EMAIL_ID, COPY, IDENTITY);

    expect(done).toEqual(['prepared', 'accepted with its row', 'counted']);
  });

  it('does not count an email that was accepted before', async () => {
    const { emails, done } = over(() => Promise.reject(new AlreadyAnswered({ status: 202, body: EMAIL_ID })));

    await emails.forward(MESSAGE, EMAIL_ID, COPY, IDENTITY);

    expect(done).toEqual(['prepared', 'forgotten']);
  });

  it('does nothing for an accepted email whose idempotency key may have expired', async () => {
    const { emails, done } = over(async () => void done.push('accepted'), true);

    await emails.forward(MESSAGE, EMAIL_ID, COPY, IDENTITY);

    expect(done).toEqual([]);
  });

  it('throws the error of an outage, so that the message is processed again', async () => {
    const { emails } = over(() => Promise.reject(new Error('storage is away')));

    await expect(emails.forward(MESSAGE, EMAIL_ID, COPY, IDENTITY)).rejects.toThrow('storage is away');
  });
});
