import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { BlobStore } from '#blobs/contract.js';
import type { Database } from '#kernel/database/database.js';
import { unavailable } from '#kernel/errors.js';
import type { Ids } from '#kernel/ids.js';
import type { Retention } from '#modules/auth/environments/retention.js';
import type { IncomingReports } from '#modules/email/contract.js';
import type { IncomingBytes, MailEnvelope } from '../contract.js';
import type { InboxMetrics } from '../inbox.metrics.js';
import { AcceptMail } from './accept-mail.js';
import type { MailArrivalSignal } from './mail-arrival-signal.js';
import type { MailGroup } from './mail-group.js';

const ID = '019a9f65-0000-7000-8000-000000000001';
const HEAD = Buffer.from('From: a@b.example\r\nMessage-ID: <1@b.example>\r\n\r\n');

function envelope(): MailEnvelope {
  const route = { environmentId: 1, aliasId: ID, maxSizeBytes: null, allowedSenders: [] };
  return {
    from: 'a@b.example',
    recipients: [{ kind: 'alias', route, address: 'box@c.example' }],
    clientIp: '192.0.2.1',
    helo: 'b.example',
    tls: null,
  };
}

function large(sha = 1): IncomingBytes {
  return {
    sizeBytes: 700_000,
    sha256: Buffer.alloc(32, sha),
    head: HEAD,
    whole: null,
    read: async function* () {
      yield HEAD;
    },
  };
}

function arrange(): {
  mail: AcceptMail;
  putFrom: jest.Mock<() => Promise<void>>;
  remove: jest.Mock<() => Promise<void>>;
  add: jest.Mock<() => Promise<null[]>>;
} {
  const putFrom = jest.fn<() => Promise<void>>().mockResolvedValue(undefined);
  const remove = jest.fn<() => Promise<void>>().mockResolvedValue(undefined);
  const add = jest.fn<() => Promise<null[]>>().mockResolvedValue([null]);
  const mail = new AcceptMail(
    { add } as unknown as MailGroup,
    { putFrom, remove } as unknown as BlobStore,
    {} as IncomingReports,
    { expiresOnDay: async () => 20_000 } as unknown as Retention,
    { unitOfWork: (work: () => Promise<unknown>) => work() } as unknown as Database,
    { notify: () => undefined } as unknown as MailArrivalSignal,
    { became: () => undefined } as unknown as InboxMetrics,
    { next: () => ID } as unknown as Ids,
  );
  return { mail, putFrom, remove, add };
}

beforeAll(() => Logger.overrideLogger(false));

describe('a large message whose bytes cannot be stored', () => {
  it.each([
    ['the bucket is unavailable', unavailable('The blob store is not reachable.')],
    ['the disk is full', Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })],
  ])(
    '451 4.3.0 when %s: no row is written, and later messages are accepted when storage is available again',
    async (_what, failure) => {
      const { mail, putFrom, add } = arrange();
      putFrom.mockRejectedValue(failure);

      const refused = await Promise.all([1, 2, 3, 4].map((sha) => mail.accept(envelope(), large(sha))));
      expect(refused.map(({ code, enhanced }) => `${code} ${enhanced}`)).toEqual([
        '451 4.3.0',
        '451 4.3.0',
        '451 4.3.0',
        '451 4.3.0',
      ]);
      expect(add).not.toHaveBeenCalled();
      putFrom.mockResolvedValue(undefined);
      const taken = await Promise.all([1, 2, 3, 4].map((sha) => mail.accept(envelope(), large(sha))));
      expect(taken.map(({ code }) => code)).toEqual([250, 250, 250, 250]);
      expect(add).toHaveBeenCalledTimes(4);
    },
  );

  it("451 4.3.0 when its row can't be written after its bytes; a retry is accepted", async () => {
    const { mail, add } = arrange();
    add.mockRejectedValueOnce(unavailable('Storage is not reachable.'));

    expect([(await mail.accept(envelope(), large())).code, (await mail.accept(envelope(), large())).code]).toEqual([
      451, 250,
    ]);
  });
});
