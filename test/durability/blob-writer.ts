import { PostgresBlobs } from '../../src/blobs/postgres-blobs.store.js';
import { dataSource } from '../../src/bootstrap/data-source.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { loadConfig } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import { Ids } from '../../src/kernel/ids.js';
import { fileBlobs } from '../support/file-blobs.js';

/** Writes blobs in sequence until it is killed. Prints a line when a write begins and when the blob is durable. */
const [, , kind, place = '', bytes = '0'] = process.argv;
const store =
  kind === 'file'
    ? fileBlobs(place)
    : new PostgresBlobs(
        new Database(
          await dataSource(place).initialize(),
          loadConfig({ DATABASE_URL: place, MASTER_KEY: '0'.repeat(64) }),
        ),
      );
const ids = new Ids(new SystemClock());
const today = Math.floor(Date.now() / 86_400_000);
for (;;) {
  const id = ids.next();
  process.stdout.write(`begins ${id}\n`);
  await store.put({ environmentId: 1, id, expiresOnDay: today + 1 }, Buffer.alloc(Number(bytes), id));
  process.stdout.write(`durable ${id}\n`);
}
