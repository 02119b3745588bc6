import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type Access, Client, until } from './client.js';
import type { ConformanceCheck } from './conformance-check.js';

/** A blob store, and the server that stores its blobs. The service runs with `BLOB_STORE=extension:NAME`. */
export interface BlobStoreUnderTest {
  service(): Promise<Access> | Access;
  /** Returns the number of blobs on the server. */
  blobs(): Promise<number> | number;
  /** `stopServer` makes the server refuse connections. `startServer` starts it at the same address, with its blobs. */
  stopServer(): Promise<void>;
  startServer(): Promise<void>;
}

type Json = Record<string, unknown>;

/** Size of a blob that is larger than one chunk of 256 KB. */
const LARGE_BYTES = 700_000;

/**
 * Returns checks of a blob store. The checks send emails, because the service keeps raw email messages in the store.
 */
export function blobStoreConformance(subject: BlobStoreUnderTest): ConformanceCheck[] {
  const client = async (): Promise<Client> => new Client(await subject.service());
  const emailWith = async (content: Buffer): Promise<Json> => {
    const { host } = await (await client()).expect(200, 'GET', '/v1/emails/simulator');
    const attachments = [{ filename: 'a.bin', content: content.toString('base64') }];
    return {
      from: `shop@${host as string}`,
      to: `delivered@${host as string}`,
      subject: 'Conformance',
      text: 'A message.',
      attachments,
    };
  };
  const send = async (content: Buffer): Promise<string> =>
    (await (await client()).expect(202, 'POST', '/v1/emails', await emailWith(content)))['id'] as string;
  const raw = async (id: string): ReturnType<Client['call']> => (await client()).call('GET', `/v1/emails/${id}/raw`);
  const returned = async (bytes: number): Promise<void> => {
    const content = randomBytes(bytes);
    const { status, text } = await raw(await send(content));
    assert.equal(status, 200);
    assert.ok(text.replaceAll('\r\n', '').includes(content.toString('base64')), 'The message is not as it was stored.');
  };
  return [
    { name: 'a small message is returned as it was stored', run: () => returned(1_000) },
    { name: 'a large message is returned as it was stored', run: () => returned(LARGE_BYTES) },
    {
      name: '503: while the server is down nothing is accepted, and a stored message is returned later',
      run: async () => {
        const id = await send(randomBytes(LARGE_BYTES));
        const [small, large] = [await emailWith(randomBytes(1_000)), await emailWith(randomBytes(LARGE_BYTES))];
        const listed = async (): Promise<Json> => (await client()).expect(200, 'GET', '/v1/emails?limit=1');
        await subject.stopServer();
        try {
          for (const email of [small, large])
            assert.equal((await (await client()).call('POST', '/v1/emails', email)).status, 503);
          assert.equal((await raw(id)).status, 503, 'A message that cannot be read is not missing.');
          assert.deepEqual(
            ((await listed())['data'] as Json[]).map((email) => email['id']),
            [id],
          );
        } finally {
          await subject.startServer();
        }
        assert.equal((await raw(id)).status, 200);
      },
    },
    {
      name: 'an erased message is removed from the server',
      run: async () => {
        const before = await subject.blobs();
        const id = await send(randomBytes(LARGE_BYTES));
        await until(
          async () => subject.blobs(),
          (count) => count === before + 1,
        );
        await (await client()).expect(204, 'DELETE', `/v1/events/${id}/payload`);
        await until(
          async () => subject.blobs(),
          (count) => count === before,
        );
        assert.equal((await raw(id)).status, 404);
      },
    },
  ];
}
