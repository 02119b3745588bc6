import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { IncomingBytes, MailEnvelope } from '../contract.js';
import { AcceptMail } from './accept-mail.js';

const ID = '019aa4c0-0000-7000-8000-000000000000';
const route = { environmentId: 1, aliasId: ID, maxSizeBytes: null, allowedSenders: [] };
const ENVELOPE: MailEnvelope = {
  from: 'a@example.com',
  recipients: [{ kind: 'alias', route, address: 'b@example.org' }],
  clientIp: '192.0.2.1',
  helo: 'x',
  tls: null,
};

/** A large message without a Message-ID, so that deduplication does not apply. */
const large = (): IncomingBytes => ({
  sizeBytes: 30_000_000,
  sha256: Buffer.alloc(32),
  head: Buffer.from('Subject: x\r\n\r\n'),
  whole: null,
  read: async function* () {
    yield Buffer.alloc(1);
  },
});

describe('large messages that arrive concurrently', () => {
  beforeEach(() => {
    Logger.overrideLogger(false);
    jest.useFakeTimers();
  });
  afterEach(() => void jest.useRealTimers());

  function accepting(): { mail: AcceptMail; writing: () => number; end: () => void } {
    const ends: (() => void)[] = [];
    let writing = 0;
    const blobs = {
      putFrom: () => ((writing += 1), new Promise<void>((resolve) => ends.push(resolve))),
      remove: async () => undefined,
    };
    const mail = new AcceptMail(
      { add: async () => [null] } as never,
      blobs as never,
      {} as never,
      { expiresOnDay: async () => 1 } as never,
      { unitOfWork: (work: () => Promise<void>) => work() } as never,
      { notify: () => undefined } as never,
      { became: () => undefined } as never,
      { next: () => ID } as never,
    );
    return { mail, writing: () => writing, end: () => ends.splice(0).forEach((resolve) => resolve()) };
  }

  it('are written two at a time, in order', async () => {
    const { mail, writing, end } = accepting();
    const answers = Array.from({ length: 3 }, () => mail.accept(ENVELOPE, large()));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(writing()).toBe(2);

    end();
    await jest.advanceTimersByTimeAsync(1);
    expect(writing()).toBe(3);
    end();
    expect((await Promise.all(answers)).map(({ code }) => code)).toEqual([250, 250, 250]);
  });

  it('get 451 if the wait for their turn is too long', async () => {
    const { mail, writing } = accepting();
    void mail.accept(ENVELOPE, large());
    void mail.accept(ENVELOPE, large());
    const third = mail.accept(ENVELOPE, large());

    await jest.advanceTimersByTimeAsync(60_000);

    expect([(await third).code, writing()]).toEqual([451, 2]);
  });
});
