import { BlobGone } from '#blobs/chunks.js';
import type { BlobStore } from '#blobs/contract.js';
import { type Id, parseId } from '#kernel/ids.js';
import { MessageBytes } from './message-bytes.js';
import type { MessagesStore } from './messages.store.js';

const ID = parseId('evt', 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1') as Id;

async function* breakingOff(): AsyncGenerator<Buffer> {
  yield Buffer.from('From: ');
  throw new Error('EIO');
}

function bytesOf(read: BlobStore['read']): MessageBytes {
  return new MessageBytes({ raw: async () => null } as unknown as MessagesStore, { read } as unknown as BlobStore);
}

it.each<[string, BlobStore['read']]>([
  ['is away', async () => Promise.reject(new Error('ECONNREFUSED'))],
  ['goes away meanwhile', async () => breakingOff()],
])('a blob store that %s is not a failure of the message', async (_what, read) => {
  await expect(bytesOf(read).whole(1, ID, 100)).rejects.toMatchObject({ type: 'unavailable' });
});

it('deleted bytes are null', async () => {
  expect(await bytesOf(async () => null).whole(1, ID, 100)).toBeNull();
});

it.each([0, 16, 18])('a message of 17 bytes, of which the blob has %i, is treated as deleted', async (length) => {
  const chunks = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.alloc(length);
  };
  const bytes = bytesOf(async () => chunks());

  if (length < 17) expect(await bytes.whole(1, ID, 17)).toBeNull();
  await expect(
    (async () => {
      for await (const _chunk of (await bytes.read(1, ID, 17)) ?? []) continue;
    })(),
  ).rejects.toThrow(BlobGone);
});

it('the bytes of a blob are in memory once, shared with threads', async () => {
  const chunks = async function* (): AsyncGenerator<Buffer> {
    yield* [Buffer.from('From: a'), Buffer.from('@b.example')];
  };

  const whole = await bytesOf(async () => chunks()).whole(1, ID, 17);

  expect([whole?.toString(), whole?.buffer]).toEqual(['From: a@b.example', expect.any(SharedArrayBuffer)]);
});

it('a blob with more bytes than its row says cannot be read', async () => {
  await expect(bytesOf(async () => breakingOff()).whole(1, ID, 3)).rejects.toMatchObject({ type: 'unavailable' });
});
