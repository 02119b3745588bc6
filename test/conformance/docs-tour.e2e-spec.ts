import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { startServer, type PosthornServer } from '../support/server.js';
import { SwaggerPage, type TriedAnswer } from '../support/swagger-ui.js';
import type { Route } from './openapi-document.js';

/** Why an operation cannot be tried where it stands, as its extension `x-try-it-out` has it. */
interface Limit {
  after?: string;
  needs?: string;
}

/** Operations that need more than the page has. Keep the list short: prefer an example that works. */
const EXCEPTIONS = [
  'streamEvents', 'getOwnPortal', 'cancelEmail', 'deleteEmail', 'takeSesNotification', 'getReport', 'getRawReport',
  'getReceivedMessage', 'getReceivedAttachment', 'getRawReceivedMessage', 'viewReceivedMessage',
  'getOwnSession', 'endSession', 'signOutOfSession', 'askForAccess', 'exchangeToken',
];

const limitOf = ({ operation }: Route): Limit => ((operation as unknown as Record<string, unknown>)['x-try-it-out'] ?? {}) as Limit;

describe('Swagger UI from top to bottom, on a new installation with the default egress rules', () => {
  const operatorKey = randomBytes(32).toString('hex');
  const answers: TriedAnswer[] = [];
  const exceptions: TriedAnswer[] = [];
  let server: PosthornServer;
  let page: SwaggerPage;
  const keys = (): Record<string, string> => ({ apiKey: server.apiKey, operatorKey });

  beforeAll(async () => {
    server = await startServer({ OPERATOR_KEY: operatorKey, EGRESS_ALLOW_CIDRS: '', EGRESS_ALLOW_HTTP: 'false' });
    page = await SwaggerPage.open(server.url);
    const routes = page.routes();
    const exceptional = routes.filter((route) => limitOf(route).needs !== undefined);
    const deferred = routes.filter((route) => limitOf(route).after !== undefined);
    for (const section of page.document.tags.map(({ name }) => name)) {
      for (const route of routes.filter(({ operation }) => operation.tags?.[0] === section)) {
        if (![...exceptional, ...deferred].includes(route)) answers.push(await tried(route));
      }
      for (const route of deferred.filter((each) => limitOf(each).after === section)) answers.push(await tried(route));
    }
    for (const route of exceptional) exceptions.push(await page.execute(route, keys()));
  }, 180_000);

  /** Executes an operation and waits for the job that it starts, as people do by reading the answer. */
  async function tried(route: Route): Promise<TriedAnswer> {
    const answer = await page.execute(route, keys());
    const [job] = answer.status === 202 ? (/rpj_[0-9A-Z]{26}/.exec(answer.text) ?? []) : [];
    while (job !== undefined && /^(pending|running)$/.test((await server.api('GET', `/v1/replays/${job}`)).json.state as string)) await pause(50);
    return answer;
  }

  afterAll(async () => {
    await server?.stop();
  });

  it('2xx: the first example of every operation, in page order, those that say so after the section that they name', () => {
    const refused = answers.filter(({ status }) => status < 200 || status >= 300).map(({ operationId, call, status, text }) => ({ operationId, status, url: call.url, body: call.body, text }));

    expect(refused).toEqual([]);
    expect([...answers, ...exceptions].map(({ operationId }) => operationId).sort()).toEqual(page.routes().map(({ operation }) => operation.operationId).sort());
  });

  it('what needs more than the page has is a short list', () => {
    const works = exceptions.filter(({ operationId, status }) => status < 300 && operationId !== 'streamEvents');

    expect(exceptions.map(({ operationId }) => operationId)).toEqual(EXCEPTIONS);
    expect(works).toEqual([]);
  });
});
