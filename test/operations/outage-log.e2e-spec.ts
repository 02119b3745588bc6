import { type DatabaseLink, openLink } from '../api/database-link.js';
import { until } from '../api/polling.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

describe('a PostgreSQL outage', () => {
  let database: TestDatabase;
  let link: DatabaseLink;
  let server: PosthornServer;

  beforeAll(async () => {
    database = await createDatabase();
    link = await openLink(database.url);
    server = await startServer({ DATABASE_URL: link.url, LOG_LEVEL: 'info' });
  });

  afterAll(async () => {
    await server.stop();
    await link.close();
    await database.drop();
  });

  it('is logged in one JSON line, however many parts of the service detect it, without objects and stack traces', async () => {
    const before = server.logs().length;
    const send = (): Promise<number> =>
      server
        .api('POST', '/v1/send', { url: 'https://example.com/', event_type: 'a', payload: {} })
        .then(({ status }) => status);

    link.cut();
    for (let refused = 0; refused < 5; refused += 1) await until(send, (status) => status === 503);
    await until(
      async () => server.logs().slice(before),
      (logs) => logs.includes('PostgreSQL is away'),
    );
    link.restore();
    await until(
      async () => (await fetch(`${server.url}/health/ready`)).status,
      (status) => status === 200,
      30_000,
    );

    const lines = server
      .logs()
      .slice(before)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: number; msg: string; context: string });
    const complaints = lines.filter(({ level }) => level >= 40);
    expect(complaints).toEqual([
      {
        level: 50,
        time: expect.any(Number),
        context: 'PostgreSQL',
        msg: expect.stringMatching(/^PostgreSQL is away \([^)]+\): nothing is accepted/),
      },
    ]);
  });
});
