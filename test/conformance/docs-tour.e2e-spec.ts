import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type PosthornServer, startServer } from '../support/server.js';
import { jobOf, SwaggerPage, tourOf, type TriedAnswer } from '../support/swagger-ui.js';
import type { Route } from './openapi-document.js';

/** Operations that cannot succeed from the API page alone. */
const EXCEPTIONS = [
  'streamEvents',
  'getOwnPortal',
  'rotateDomainDkim',
  'downloadEmailAttachment',
  'updateEmail',
  'cancelEmail',
  'deleteEmail',
  'takeSesNotification',
  'getReport',
  'getRawReport',
  'getReceivedMessage',
  'getReceivedAttachment',
  'linkReceivedMessage',
  'getRawReceivedMessage',
  'releaseReceivedMessage',
  'viewReceivedMessage',
  'getMailFile',
  'getOwnSession',
  'endSession',
  'signOutOfSession',
  'askForAccess',
  'exchangeToken',
];

const RETRIES_MAX = 60;

const idsOf = (routes: readonly Route[]): string[] => routes.map(({ operation }) => operation.operationId);

describe('Swagger UI from top to bottom, on a new installation with the default egress rules', () => {
  const operatorKey = randomBytes(32).toString('hex');
  const answers: TriedAnswer[] = [];
  let server: PosthornServer;
  let page: SwaggerPage;
  let tour: ReturnType<typeof tourOf>;

  beforeAll(async () => {
    server = await startServer({ OPERATOR_KEY: operatorKey, EGRESS_ALLOW_CIDRS: '', EGRESS_ALLOW_HTTP: 'false' });
    page = await SwaggerPage.open(server.url);
    tour = tourOf(page.document, page.routes());
    for (const route of tour.tried) {
      let answer = await page.execute(route, { apiKey: server.apiKey, operatorKey });
      // A busy machine can make the service briefly unready, with 503.
      for (let tries = 0; answer.status === 503 && tries < RETRIES_MAX; tries += 1) {
        await pause(500);
        answer = await page.execute(route, { apiKey: server.apiKey, operatorKey });
      }
      answers.push(answer);
      await jobOf(server, answer);
    }
  }, 600_000);

  afterAll(async () => {
    await server?.stop();
  });

  it('2xx: the first example of every operation, in page order, except for those that name a section that they come after', () => {
    const refused = answers.filter(({ status }) => status < 200 || status >= 300);

    expect(refused).toEqual([]);
    expect([...idsOf(tour.tried), ...idsOf(tour.exceptional)].sort()).toEqual(idsOf(page.routes()).sort());
  });

  it('few operations need more than the page offers: each has a note, and fails without it', async () => {
    const works: string[] = [];
    for (const route of tour.exceptional.filter(({ operation }) => operation.operationId !== 'streamEvents')) {
      const { operationId, status } = await page.execute(route, { apiKey: server.apiKey });
      // An anonymous authorization request is redirected to the sign-in page (RFC 9700, section 4.11.2).
      if (status < 400 && !(operationId === 'askForAccess' && status === 303)) works.push(operationId);
    }

    expect(idsOf(tour.exceptional)).toEqual(EXCEPTIONS);
    expect(
      tour.exceptional.filter(
        ({ operation }) => operation.description?.includes('**To try it out** you need') !== true,
      ),
    ).toEqual([]);
    expect(works).toEqual([]);
  });

  it('creates before it reads, and deletes last in each section', () => {
    const sections = page.document.tags.map(({ name }) =>
      page
        .routes()
        .filter(({ operation }) => operation.tags?.[0] === name)
        .map(({ method }) => method === 'DELETE'),
    );

    expect(page.document.tags.slice(0, 4).map(({ name }) => name)).toEqual([
      'Destinations',
      'Applications',
      'Send',
      'Events',
    ]);
    for (const isDelete of sections) expect(isDelete).toEqual([...isDelete].sort());
  });

  it('a placeholder is never filled with an id that was only listed, nor with a deleted one', async () => {
    const anew = await SwaggerPage.open(server.url);
    const run = (operationId: string): Promise<TriedAnswer> =>
      anew.execute(anew.routes().find(({ operation }) => operation.operationId === operationId) as Route, {
        apiKey: server.apiKey,
      });

    const [kept, gone] = [await run('createDestination'), await run('createDestination')];
    await run('deleteDestination');
    const left = await run('getDestination');
    await run('deleteDestination');
    await run('listDestinations');
    const none = await run('getDestination');

    expect(kept.text).toContain(left.call.url.split('/').at(-1));
    expect(gone.text).not.toContain(left.call.url.split('/').at(-1));
    expect([left.status, none.status]).toEqual([200, 404]);
  });

  it('stores no key in the browser', async () => {
    const script = await (await fetch(`${server.url}/docs/swagger-ui-init.js`)).text();

    expect(script).toContain('"persistAuthorization": false');
  });
});
