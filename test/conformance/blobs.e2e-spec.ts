import { mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CreateBucketCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { BlobDirectoryStore } from '../../src/blobs/blob-directory.store.js';
import { CHUNK_BYTES } from '../../src/blobs/chunks.js';
import type { BlobStore } from '../../src/blobs/contract.js';
import { PostgresBlobs } from '../../src/blobs/postgres-blobs.store.js';
import { S3Blobs } from '../../src/blobs/s3-blobs.js';
import { dataSource } from '../../src/bootstrap/data-source.js';
import { EgressAgent } from '../../src/egress/agent.js';
import { Names } from '../../src/egress/names/names.js';
import { egressPolicy } from '../../src/engine/egress-policy.js';
import { SystemClock } from '../../src/kernel/clock.js';
import type { BlobBucket } from '../../src/kernel/config/blob-store.js';
import { loadConfig } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import { Ids } from '../../src/kernel/ids.js';
import { PartitionsStore } from '../../src/modules/ledger/partitions.store.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { fileBlobs } from '../support/file-blobs.js';
import { isMotoInstalled, Moto } from '../support/moto.js';

const ids = new Ids(new SystemClock());
const TODAY = Math.floor(Date.now() / 86_400_000);

let directory: string;
let testDatabase: TestDatabase;
let source: DataSource;
let database: Database;
let stores: Record<'postgres' | 'file' | 's3', BlobStore>;
let moto: Moto | null = null;
let s3: S3Client;

const KINDS = isMotoInstalled() ? (['postgres', 'file', 's3'] as const) : (['postgres', 'file'] as const);
const agents: EgressAgent[] = [];

/** Returns a bucket on a third-party S3 server. Egress is limited to `allowCidrs`. */
function inBucket(place: Partial<BlobBucket> = {}, allowCidrs = ['127.0.0.0/8']): S3Blobs {
  const policy = egressPolicy({ allowCidrs, allowHttp: true });
  const agent = new EgressAgent({ policy: () => policy, resolve: new Names({ servers: [] }).resolve });
  agents.push(agent);
  const credentials = moto?.credentials ?? { accessKeyId: '', secretAccessKey: '' };
  return new S3Blobs(
    {
      kind: 's3',
      bucket: 'mail',
      prefix: 'posthorn/',
      region: 'us-east-1',
      endpoint: moto?.url ?? '',
      credentials,
      ...place,
    },
    agent,
  );
}

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'posthorn-blobs-'));
  testDatabase = await createDatabase();
  source = await dataSource(testDatabase.url).initialize();
  database = new Database(source, loadConfig({ DATABASE_URL: testDatabase.url, MASTER_KEY: '0'.repeat(64) }));
  await new PartitionsStore(database).ensure([3], 0);
  if (isMotoInstalled()) {
    moto = await Moto.start();
    s3 = new S3Client({
      region: 'us-east-1',
      endpoint: moto.url,
      forcePathStyle: true,
      credentials: { ...moto.credentials },
    });
    await s3.send(new CreateBucketCommand({ Bucket: 'mail' }));
  }
  stores = { postgres: new PostgresBlobs(database), file: fileBlobs(directory), s3: inBucket() };
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
  await rm(directory, { recursive: true, force: true });
  await Promise.all(agents.map((agent) => agent.destroy()));
  s3?.destroy();
  await moto?.stop();
});

const bytesOf = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) & 0xff));

async function whole(chunks: AsyncIterable<Buffer> | null): Promise<Buffer | null> {
  if (chunks === null) return null;
  const read: Buffer[] = [];
  for await (const chunk of chunks) {
    expect(chunk.length).toBeLessThanOrEqual(CHUNK_BYTES);
    expect(chunk.length).toBeGreaterThan(0);
    read.push(chunk);
  }
  return Buffer.concat(read);
}

describe.each(KINDS)('a blob store: %s', (kind) => {
  const key = () => ({ environmentId: 1, id: ids.next(), expiresOnDay: TODAY + 1 });

  it.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * CHUNK_BYTES, 40 * CHUNK_BYTES + 7])(
    'returns the %i stored bytes, as a whole and from any offset',
    async (length) => {
      const [blob, bytes] = [key(), bytesOf(length)];

      await stores[kind].put(blob, bytes);

      expect((await whole(await stores[kind].read(blob)))?.equals(bytes)).toBe(true);
      for (const offset of [1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, length - 1, length, length + 1].filter(
        (each) => each >= 0,
      )) {
        expect((await whole(await stores[kind].read(blob, offset)))?.equals(bytes.subarray(offset))).toBe(true);
      }
    },
  );

  it('returns nothing for an unknown id, or for a blob of another environment', async () => {
    const blob = key();
    await stores[kind].put(blob, bytesOf(10));

    expect(await stores[kind].read({ environmentId: 1, id: ids.next() })).toBeNull();
    expect(await stores[kind].read({ ...blob, environmentId: 2 })).toBeNull();
    await stores[kind].remove({ ...blob, environmentId: 2 });
    expect(await whole(await stores[kind].read(blob))).toHaveLength(10);
  });

  it('returns nothing after the blob was removed, however often it is removed', async () => {
    const blob = key();
    await stores[kind].put(blob, bytesOf(3 * CHUNK_BYTES));

    await stores[kind].remove(blob);
    await stores[kind].remove(blob);

    expect(await stores[kind].read(blob)).toBeNull();
  });

  it('accepts the same blob twice, as after a lost answer', async () => {
    const [blob, bytes] = [key(), bytesOf(2 * CHUNK_BYTES)];
    await stores[kind].put(blob, bytes);

    await stores[kind].put(blob, bytes);

    expect((await whole(await stores[kind].read(blob)))?.equals(bytes)).toBe(true);
  });

  it('reports an error if the blob is removed during a read, instead of ending early', async () => {
    const blob = key();
    await stores[kind].put(blob, bytesOf(40 * CHUNK_BYTES));
    const reading = (await stores[kind].read(blob))?.[Symbol.asyncIterator]();
    if (kind !== 'file') await reading?.next();

    await stores[kind].remove(blob);

    const rest = async (): Promise<void> => {
      while ((await reading?.next())?.done === false);
    };
    await expect(rest()).rejects.toThrow('removed while it was read');
  });

  it('rejects an invalid id, such as a path', async () => {
    await expect(stores[kind].read({ environmentId: 1, id: '../../etc/passwd' })).rejects.toThrow();
  });
});

describe('blobs in PostgreSQL', () => {
  it('are written atomically with the other writes of the transaction', async () => {
    const blob = { environmentId: 1, id: ids.next(), expiresOnDay: TODAY + 1 };

    await expect(
      database.transaction(async () => {
        await stores.postgres.put(blob, bytesOf(100));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');

    expect(await stores.postgres.read(blob)).toBeNull();
  });

  it('are dropped with the partition of their day, even unreferenced ones', async () => {
    const blob = { environmentId: 1, id: ids.next(), expiresOnDay: TODAY - 1 };
    const [yesterday, today] = [TODAY - 1, TODAY].map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));
    const name = `blob_chunks_p${yesterday?.replaceAll('-', '')}`;
    await source.query(
      `create table ${name} partition of blob_chunks for values from ('${yesterday}') to ('${today}')`,
    );
    await stores.postgres.put(blob, bytesOf(100));
    expect(await whole(await stores.postgres.read(blob))).toHaveLength(100);

    expect(await new PartitionsStore(database).dropPassed([])).toEqual({ names: [name], isHeldUp: false });

    expect(await stores.postgres.read(blob)).toBeNull();
  });
});

describe('blobs in files', () => {
  it('are swept after their day, with the remains of crashes, and no others', async () => {
    const files = fileBlobs(path.join(directory, 'sweep'));
    const [passed, kept] = [TODAY - 1, TODAY].map((expiresOnDay) => ({
      environmentId: 1,
      id: ids.next(),
      expiresOnDay,
    }));
    for (const blob of [passed!, kept!]) await files.put(blob, bytesOf(10));
    const [abandoned, running] = ['abandoned', 'running'].map((name) => path.join(directory, 'sweep', 'tmp', name));
    for (const file of [abandoned!, running!]) await writeFile(file, 'half');
    await utimes(abandoned!, TODAY, (TODAY - 2) * 86_400);

    expect(await files.sweep(TODAY, Date.now(), () => true)).toEqual({ removed: 2, isMore: false });

    expect(await files.read(passed!)).toBeNull();
    expect(await whole(await files.read(kept!))).toHaveLength(10);
    expect(await readdir(path.join(directory, 'sweep', 'tmp'))).toEqual(['running']);
    expect(await readdir(path.join(directory, 'sweep', 'expiring'))).toEqual([String(TODAY)]);
  });

  it('are swept within the time limit, and the rest of them in the next run', async () => {
    const files = fileBlobs(path.join(directory, 'turns'));
    for (let i = 0; i < 5; i += 1)
      await files.put({ environmentId: 1, id: ids.next(), expiresOnDay: TODAY - 1 }, bytesOf(10));
    let turns = 3;

    expect(await files.sweep(TODAY, Date.now(), () => turns-- > 0)).toEqual({ removed: 3, isMore: true });
    expect(await files.sweep(TODAY, Date.now(), () => true)).toEqual({ removed: 2, isMore: false });
  });

  it('503 while the volume is not mounted: nothing counts as deleted, and nothing is written beside the volume', async () => {
    const [root, away, empty] = ['volume', 'away', 'empty'].map((name) => path.join(directory, name)) as [
      string,
      string,
      string,
    ];
    await source.query('delete from blob_directory');
    const known = new BlobDirectoryStore(database);
    const blob = { environmentId: 1, id: ids.next(), expiresOnDay: TODAY };
    await fileBlobs(root, known).put(blob, bytesOf(10));
    const running = fileBlobs(root, known);
    expect(await whole(await running.read(blob))).toHaveLength(10);

    await rename(root, away);
    await mkdir(root);
    for (const files of [running, fileBlobs(root, known), fileBlobs(empty, known)]) {
      await expect(files.read(blob)).rejects.toMatchObject({ type: 'unavailable' });
      await expect(files.remove(blob)).rejects.toMatchObject({ type: 'unavailable' });
      await expect(files.put({ ...blob, id: ids.next() }, bytesOf(10))).rejects.toMatchObject({
        type: 'unavailable',
        cause: { message: expect.stringContaining('Is the volume mounted?') },
      });
    }
    expect(await readdir(root)).toEqual([]);

    await rm(root, { recursive: true });
    await rename(away, root);
    expect(await whole(await running.read(blob))).toHaveLength(10);
  });

  it('a directory that has blobs, but no marker, is adopted, by processes that start at the same time', async () => {
    const [root, known] = [path.join(directory, 'older'), new BlobDirectoryStore(database)];
    await source.query('delete from blob_directory');
    const blob = { environmentId: 1, id: ids.next(), expiresOnDay: TODAY };
    await fileBlobs(root).put(blob, bytesOf(10));
    await rm(path.join(root, 'posthorn-blobs'));

    const read = await Promise.all([1, 2, 3].map(async () => whole(await fileBlobs(root, known).read(blob))));
    await Promise.all([1, 2, 3].map(() => fileBlobs(root, known).put({ ...blob, id: ids.next() }, bytesOf(10))));

    expect(read.map((bytes) => bytes?.length)).toEqual([10, 10, 10]);
    expect(await known.find()).toBe(await readFile(path.join(root, 'posthorn-blobs'), 'utf8'));
  });

  it('503: reports that nothing was accepted if the directory is not writable', async () => {
    await writeFile(path.join(directory, 'no-directory'), '');
    const files = fileBlobs(path.join(directory, 'no-directory'));

    await expect(
      files.put({ environmentId: 1, id: ids.next(), expiresOnDay: TODAY }, bytesOf(10)),
    ).rejects.toMatchObject({ type: 'unavailable' });
  });
});

(isMotoInstalled() ? describe : describe.skip)('blobs in a bucket', () => {
  const keysOf = async (prefix: string): Promise<string[]> =>
    ((await s3.send(new ListObjectsV2Command({ Bucket: 'mail', Prefix: prefix }))).Contents ?? [])
      .flatMap(({ Key }) => Key ?? [])
      .sort();

  it('are swept after their day, with the remains of a crash, and without those of other environments', async () => {
    const swept = inBucket({ prefix: 'sweep/' });
    const [passed, kept] = [TODAY - 1, TODAY].map((expiresOnDay) => ({
      environmentId: 1,
      id: ids.next(),
      expiresOnDay,
    }));
    for (const blob of [passed!, kept!]) await swept.put(blob, bytesOf(10));
    const lost = `sweep/expiring/${TODAY - 2}/1.${ids.next()}`;
    for (const Key of [lost, 'sweep/expiring/notes.txt', 'else/expiring/1/1.a'])
      await s3.send(new PutObjectCommand({ Bucket: 'mail', Key, Body: 'x' }));

    expect(await swept.sweep(TODAY, () => true)).toEqual({ removed: 2, isMore: false });

    expect(await swept.read(passed!)).toBeNull();
    expect(await whole(await swept.read(kept!))).toHaveLength(10);
    expect(await keysOf('sweep/')).toEqual(
      [
        `sweep/1/${kept!.id.slice(-2)}/${kept!.id}`,
        `sweep/expiring/${TODAY}/1.${kept!.id}`,
        'sweep/expiring/notes.txt',
      ].sort(),
    );
    expect(await keysOf('else/')).toEqual(['else/expiring/1/1.a']);
  });

  it('are swept by the page, in few calls, within the time limit', async () => {
    const swept = inBucket({ prefix: 'pages/' });
    const calls = jest.spyOn(agents.at(-1) as EgressAgent, 'exchange');
    for (const day of [TODAY - 2, TODAY - 1]) {
      for (let i = 0; i < 10; i += 1)
        await swept.put({ environmentId: 1, id: ids.next(), expiresOnDay: day }, bytesOf(10));
    }
    calls.mockClear();
    let turns = 1;

    expect(await swept.sweep(TODAY, () => turns-- > 0)).toEqual({ removed: 10, isMore: true });
    expect(calls.mock.calls.length).toBeLessThanOrEqual(4);
    expect(await swept.sweep(TODAY, () => true)).toEqual({ removed: 10, isMore: false });
    expect(await keysOf('pages/')).toEqual([]);
  });

  it('are swept one by one on a server without bulk deletion', async () => {
    const UNKNOWN_CALL = Buffer.from(
      '<Error><Code>NotImplemented</Code><Message>A header or query you provided implies functionality that is not implemented.</Message></Error>',
    );
    const swept = inBucket({ prefix: 'one-by-one/' });
    const agent = agents.at(-1) as EgressAgent;
    const exchange = agent.exchange.bind(agent);
    jest.spyOn(agent, 'exchange').mockImplementation(async (request) =>
      request.method === 'POST'
        ? ({
            ...(await exchange({ ...request, method: 'GET', body: null })),
            kind: 'response',
            status: 501,
            body: UNKNOWN_CALL,
          } as never)
        : exchange(request),
    );
    for (let i = 0; i < 10; i += 1)
      await swept.put({ environmentId: 1, id: ids.next(), expiresOnDay: TODAY - 1 }, bytesOf(10));

    expect(await swept.sweep(TODAY, () => true)).toEqual({ removed: 10, isMore: false });
    expect(await keysOf('one-by-one/')).toEqual([]);
  });

  it.each<[string, () => S3Blobs]>([
    [
      'the credentials are wrong',
      () => inBucket({ credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'hunter2' } }),
    ],
    ['there is no such bucket', () => inBucket({ bucket: 'nobody' })],
    ['nobody listens', () => inBucket({ endpoint: 'http://127.0.0.1:1' })],
    ['the egress policy blocks the address', () => inBucket({}, [])],
  ])(
    '503: reports that nothing was accepted if %s, and a read does not report a missing blob',
    async (_what, store) => {
      const blob = { environmentId: 1, id: ids.next(), expiresOnDay: TODAY };

      const put = store().put(blob, bytesOf(10));

      await expect(put).rejects.toMatchObject({ type: 'unavailable' });
      await expect(put).rejects.not.toThrow(/hunter2/);
      await expect(store().read(blob)).rejects.toMatchObject({ type: 'unavailable' });
      await expect(store().remove(blob)).rejects.toMatchObject({ type: 'unavailable' });
    },
  );
});
