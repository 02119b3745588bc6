import { generateKeyPairSync } from 'node:crypto';
import { jest } from '@jest/globals';
import { BlobGone } from '#blobs/chunks.js';
import type { BlobStore } from '#blobs/contract.js';
import type { Clock } from '#kernel/clock.js';
import type { Config } from '#kernel/config/config.js';
import type { Database } from '#kernel/database/database.js';
import { unavailable } from '#kernel/errors.js';
import { idTimeMs } from '#kernel/ids.js';
import type { EmailsStore } from './emails.store.js';
import { RawEmails } from './raw-emails.js';
import type { SenderIdentities } from './sender-identity.js';
import { type MessageKey, SignedMessages } from './signed-messages.js';
import type { MailTransport } from './transport.contract.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const { privateKey: tooShort } = generateKeyPairSync('rsa', { modulusLength: 512 });
const RAW = Buffer.from('From: Shop <shop@mail.example.com>\r\nSubject: Hello\r\n\r\nHello\r\n');
const EMAIL: MessageKey = {
  id: '019aa4c0-0000-7000-8000-000000000001',
  expiresOn: '2026-12-28',
  sender: 'Shop <shop@mail.example.com>',
  signature: '',
  sizeBytes: RAW.length,
};
/** The email with the given signature and the size of the given stored message. */
const emailOf = (signature: string | null, raw: Buffer = RAW): MessageKey => ({
  ...EMAIL,
  signature,
  sizeBytes: raw.length + (signature ?? '').length,
});
const STORED = 'DKIM-Signature: b=another process\r\n';

interface Given {
  raw?: Buffer | null;
  /** Result of storing the signature. */
  isStored?: boolean;
  /** Signature that another process has stored. Null if the email was erased. */
  found?: string | null;
  /** Age of the email. */
  ageMs?: number;
}

function over({ raw = RAW, isStored = true, found = null, ageMs = 10_000 }: Given): {
  messages: SignedMessages;
  sign: jest.Mock<EmailsStore['sign']>;
  signerOf: jest.Mock<SenderIdentities['signerOf']>;
} {
  const sign = jest.fn<EmailsStore['sign']>(async (signed) => signed.map(() => isStored));
  const signerOf = jest.fn<SenderIdentities['signerOf']>(async (_environment, domain) => ({
    domain,
    selector: 'ph1',
    privateKey,
  }));
  const chunks = async function* (): AsyncGenerator<Buffer> {
    yield raw as Buffer;
  };
  const blobs = { whole: async () => raw, read: async () => raw && chunks() } as unknown as BlobStore;
  const messages = new SignedMessages(
    new RawEmails(blobs, {} as Database, {} as Config),
    { sign, state: async () => ({ signature: found }) } as unknown as EmailsStore,
    { signerOf } as unknown as SenderIdentities,
    { rewritesIdentity: false } as MailTransport,
    { now: () => new Date(0), nowMs: () => idTimeMs(EMAIL.id) + ageMs } as Clock,
  );
  return { messages, sign, signerOf };
}

async function bytesOf(chunks: AsyncIterable<Buffer> | undefined): Promise<string> {
  const read: Buffer[] = [];
  for await (const chunk of chunks ?? []) read.push(chunk);
  return Buffer.concat(read).toString();
}

describe('SignedMessages', () => {
  it('signs a message for the domain of its sender, and stores the signature before it returns the message', async () => {
    const { messages, sign, signerOf } = over({});

    const whole = String(await messages.whole(7, EMAIL));

    expect(signerOf).toHaveBeenCalledWith(7, 'mail.example.com');
    const signature = sign.mock.calls[0]?.[0][0]?.signature ?? '';
    expect(signature).toMatch(/^DKIM-Signature: v=1; a=rsa-sha256; [^]* d=mail\.example\.com;[^]*\r\n$/);
    expect(whole).toBe(signature + RAW.toString());
  });

  it.each<[string, string | null, string]>([
    ['a stored signature', STORED, STORED + RAW.toString()],
    ['a signature that the stored message contains', null, RAW.toString()],
  ])('returns %s, and signs nothing', async (_what, signature, expected) => {
    const { messages, sign } = over({});
    const email = { ...EMAIL, signature, sizeBytes: expected.length };

    expect(String(await messages.whole(7, email))).toBe(expected);
    const read = await messages.read(7, email);
    expect([await bytesOf(read?.chunks), read?.sizeBytes]).toEqual([expected, expected.length]);
    expect(sign).not.toHaveBeenCalled();
  });

  it.each([STORED, null, ''])(
    'treats a message that lost bytes as deleted, with the signature %j',
    async (signature) => {
      const email = emailOf(signature);
      const { messages, sign } = over({ raw: RAW.subarray(0, -1) });

      expect(await messages.whole(7, email)).toBeNull();
      expect(await messages.toSend(7, { ...email, originalSender: null })).toBeNull();
      const read = await messages.read(7, email);
      if (signature === '') expect(read).toBeNull();
      else await expect(bytesOf(read?.chunks)).rejects.toThrow(BlobGone);
      expect(sign).not.toHaveBeenCalled();
    },
  );

  describe('toSend', () => {
    const oldKey = 'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;\r\n d=mail.example.com; s=ph2; b=old\r\n';
    const newKey = oldKey.replace('ph2', 'ph1');
    const foreign = oldKey.replace('mail.', 'other.');

    it.each<[string, string | null, string]>([
      ['stored beside the message', oldKey, ''],
      ['stored beside the message, which a client signed', oldKey, foreign],
      ['in the stored message', null, oldKey],
      ['in the stored message, of RSA and Ed25519', null, oldKey + oldKey.replace('ph2', 'phe2')],
    ])('adds a signature in front of those of a previous key: %s', async (_what, signature, inMessage) => {
      const raw = Buffer.concat([Buffer.from(inMessage), RAW]);
      const { messages, sign } = over({ raw });

      const sent = String(await messages.toSend(7, { ...emailOf(signature, raw), originalSender: null }));

      const whole = `${signature ?? ''}${raw.toString()}`;
      expect(sent.slice(0, -whole.length)).toMatch(/^DKIM-Signature: (?:(?!DKIM-Signature)[^])* s=ph1;[^]*\r\n$/);
      expect(sent.endsWith(whole)).toBe(true);
      expect(sign).not.toHaveBeenCalled();
    });

    it('keeps the signatures of a new email, because another process may know a newer key', async () => {
      const { messages } = over({ ageMs: 9_999 });

      const sent = await messages.toSend(7, { ...emailOf(oldKey), originalSender: null });

      expect(String(sent)).toBe(oldKey + RAW.toString());
    });

    it('sends the message as it is if the current key cannot sign', async () => {
      const { messages, signerOf } = over({});
      signerOf.mockResolvedValue({ domain: 'mail.example.com', selector: 'ph1', privateKey: tooShort });

      const sent = await messages.toSend(7, { ...emailOf(oldKey), originalSender: null });

      expect(String(sent)).toBe(oldKey + RAW.toString());
    });

    it('throws while the current key cannot be read from storage', async () => {
      const { messages, signerOf } = over({});
      signerOf.mockRejectedValue(unavailable('Storage is not reachable.'));

      await expect(messages.toSend(7, { ...emailOf(oldKey), originalSender: null })).rejects.toThrow('not reachable');
    });

    it.each<[string, string | null, string, string | null]>([
      ['of the current key', newKey, '', null],
      ['of the current key, in the stored message', null, newKey, null],
      ['of another domain', foreign, '', null],
      ['of a forwarded message', oldKey, '', 'a@b.example'],
      ['of no key', null, '', null],
    ])('keeps signatures %s', async (_what, signature, inMessage, originalSender) => {
      const raw = Buffer.concat([Buffer.from(inMessage), RAW]);
      const { messages } = over({ raw });

      expect(String(await messages.toSend(7, { ...emailOf(signature, raw), originalSender }))).toBe(
        `${signature ?? ''}${raw.toString()}`,
      );
    });

    it('returns null for a message that no longer exists', async () => {
      const { messages } = over({ raw: null });

      expect(await messages.toSend(7, { ...emailOf(oldKey), originalSender: null })).toBeNull();
    });
  });

  it('returns the signature of the process that stored one first', async () => {
    const { messages } = over({ isStored: false, found: STORED });

    expect(String(await messages.whole(7, EMAIL))).toBe(STORED + RAW.toString());
  });

  it('measures a message that is signed while it is read', async () => {
    const { messages } = over({});

    const read = await messages.read(7, { ...EMAIL, sizeBytes: RAW.length });

    expect(read?.sizeBytes).toBeGreaterThan(RAW.length);
    expect((await bytesOf(read?.chunks)).length).toBe(read?.sizeBytes);
  });

  it.each<[string, Given]>([
    ['was erased before it was signed', { isStored: false, found: null }],
    ['no longer exists', { raw: null }],
  ])('returns null for a message that %s', async (_what, given) => {
    const { messages } = over(given);

    expect(await messages.whole(7, EMAIL)).toBeNull();
    expect(await messages.read(7, { ...EMAIL, sizeBytes: RAW.length })).toBeNull();
  });

  it('throws, and stores nothing, if the keys cannot be read', async () => {
    const { messages, sign, signerOf } = over({});
    signerOf.mockRejectedValue(new Error('storage is away'));

    await expect(messages.whole(7, EMAIL)).rejects.toThrow('storage is away');
    expect(sign).not.toHaveBeenCalled();
  });
});
