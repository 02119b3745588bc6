import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DataSource } from 'typeorm';
import type { BlobStore } from '../../src/blobs/contract.js';
import { PostgresBlobs } from '../../src/blobs/postgres-blobs.store.js';
import { dataSource } from '../../src/bootstrap/data-source.js';
import { loadConfig } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import { PartitionsStore } from '../../src/modules/ledger/partitions.store.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { fileBlobs } from '../support/file-blobs.js';

const BYTES = 6_000_001;
const KILLS = 6;

let directory: string;
let testDatabase: TestDatabase;
let source: DataSource;
let database: Database;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'posthorn-blobs-'));
  testDatabase = await createDatabase();
  source = await dataSource(testDatabase.url).initialize();
  database = new Database(source, loadConfig({ DATABASE_URL: testDatabase.url, MASTER_KEY: '0'.repeat(64) }));
  await new PartitionsStore(database).ensure([3], 0);
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
  await rm(directory, { recursive: true, force: true });
});

/**
 * Kills a writer while it writes its `count`th blob. Returns the ids of the blobs whose write had begun, and the ids of
 * the blobs that were durable.
 */
async function writeUntilKilled(
  kind: string,
  place: string,
  count: number,
): Promise<{ begun: string[]; durable: string[] }> {
  const writer = spawn(
    process.execPath,
    [
      '--conditions=source',
      '--import',
      './test/durability/typescript.mjs',
      'test/durability/blob-writer.ts',
      kind,
      place,
      String(BYTES),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let said = '';
  const idsOf = (word: string): string[] =>
    [...said.matchAll(new RegExp(`^${word} (\\S+)$`, 'gm'))].map((match) => match[1] ?? '');
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    // A different delay in each run, so that each kill interrupts the write at a different position.
    if (idsOf('begins').length >= count) setTimeout(() => writer.kill('SIGKILL'), 3 * count);
  });
  await once(writer, 'close');
  return { begun: idsOf('begins'), durable: idsOf('durable') };
}

describe.each(['postgres', 'file'])('kill -9 of a process that writes blobs: %s', (kind) => {
  it('every durable blob remains complete, and no other blob exists in part', async () => {
    const place = kind === 'file' ? directory : testDatabase.url;
    const store: BlobStore = kind === 'file' ? fileBlobs(directory) : new PostgresBlobs(database);
    let cut = 0;

    for (let kill = 0; kill < KILLS; kill += 1) {
      const { begun, durable } = await writeUntilKilled(kind, place, 2 + kill);
      expect(begun.length).toBeGreaterThanOrEqual(2);
      cut += begun.length - durable.length;

      for (const id of begun) {
        const chunks = await store.read({ environmentId: 1, id });
        if (chunks === null) {
          expect(durable).not.toContain(id);
          continue;
        }
        const read: Buffer[] = [];
        for await (const chunk of chunks) read.push(chunk);
        expect(Buffer.concat(read).equals(Buffer.alloc(BYTES, id))).toBe(true);
      }
    }

    expect(cut).toBeGreaterThan(0);
  });
});
