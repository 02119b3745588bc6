import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import type { DatabaseLink } from './database-link.js';
import { openLink } from './database-link.js';
import { until } from './polling.js';
import { inbound, json, provide, requestsOf } from './receiving.js';
import type { Targets } from './scene.js';
import { destinationAt, eventIn, startTargets, WITHIN_MS } from './scene.js';

describe('endpoints while PostgreSQL is unavailable', () => {
  let database: TestDatabase;
  let link: DatabaseLink;
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    targets = await startTargets();
    database = await createDatabase();
    link = await openLink(database.url);
    server = await startServer({ DATABASE_URL: link.url });
  });

  afterAll(async () => {
    link.restore();
    await server.stop();
    await link.close();
    await database.drop();
    await targets.close();
  });

  it('503 with Retry-After, for a known endpoint and for an unknown path; once PostgreSQL is back, requests are received again', async () => {
    const target = targets.open();
    const endpoint = await inbound(server, { destinations: [await destinationAt(server, target.url)] });
    await provide(server, endpoint.at, json({ n: 1 }));
    await target.arrived(1);

    link.cut();
    const known = await provide(server, endpoint.at, json({ n: 2 }));
    const unknown = await provide(server, `${endpoint.at}/never-asked-before`, json({ n: 3 }));
    link.restore();

    for (const answer of [known, unknown]) {
      expectRefusal(answer, 503);
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    const again = await until(
      () => provide(server, endpoint.at, json({ n: 4 })),
      ({ status }) => status === 200,
      WITHIN_MS,
    );
    await eventIn(server, again.json.id, 'delivered');
    expect((await requestsOf(server, endpoint)).map(({ status }) => status)).toEqual(['routed', 'routed']);
    expect(target.posts().map(({ rawBody }) => JSON.parse(String(rawBody)))).toEqual([{ n: 1 }, { n: 4 }]);
  });
});
