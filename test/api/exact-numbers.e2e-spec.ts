import { type ApiAnswer, type PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectRefusal } from './answers.js';
import { applicationOf, endpointAt } from './applications.js';
import { aliasTo } from './mailing.js';
import { inbound, provide } from './receiving.js';
import { destinationAt, expectStatus, startTargets, type Targets } from './scene.js';

const HUGE = '12345678901234567890';
const SAID = `${HUGE} would be stored as 12345678901234567000: write it as a string, or with fewer digits`;
const WEBHOOK = `{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"id":{"maximum":${HUGE}}}}}}}}}`;
const DOCUMENT = `{"openapi":"3.1.0","info":{"x":${HUGE}},"webhooks":{"imported":${WEBHOOK}},"paths":{"/":{"x":${HUGE}}}}`;
const YAML = `
openapi: 3.1.0
paths: {/: {x: ${HUGE}}}
webhooks:
  imported:
    post:
      tags: [a, {n: ${HUGE}}, 0x1fffffffffffffffff]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
components: {schemas: {Order: {type: object, maxProperties: 5, properties: {id: {maximum: ${HUGE}}}}}}
`;

describe('a number that cannot be stored exactly', () => {
  let server: PosthornServer;
  let targets: Targets;
  /** Values that replace `@name` in a path or a body. */
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
    const destination = await destinationAt(server, targets.open().url);
    const { id: endpoint, at } = await inbound(server, { routes: [{ destination }] });
    const {
      data: [route],
    } = (await server.api('GET', `/v1/endpoints/${endpoint}/routes`)).json;
    const { id: request } = (
      await provide(server, at, { headers: { 'content-type': 'application/json' }, body: '{"a":1}' })
    ).json;
    const application = await applicationOf(server);
    const { id: own } = await endpointAt(server, application, targets.open().url);
    const alias = (await aliasTo(server, [destination])).id;
    expectStatus(await server.api('POST', '/v1/event-types', { name: 'kept', schema: { type: 'object' } }), 201);
    Object.assign(ids, {
      destination,
      endpoint,
      route: route.id,
      request,
      application,
      own,
      alias,
      url: targets.open().url,
    });
  });

  afterAll(async () => {
    await server?.stop();
    await targets?.close();
  });

  const filled = (text: string): string => text.replace(/@(\w+)/g, (_, name: string) => ids[name] ?? name);
  const ask = (method: string, path: string, body: string): Promise<ApiAnswer> =>
    server.api(method, filled(path), filled(body));

  describe('422: is rejected with its path, and nothing changes', () => {
    it.each<[what: string, method: string, path: string, body: string, fault: string]>([
      [
        'config',
        'POST',
        '/v1/destinations',
        `{"name":"a","type":"https","url":"@url","config":{"circuit_breaker":{"failure_threshold":#}}}`,
        'config.circuit_breaker.failure_threshold',
      ],
      [
        'config',
        'PATCH',
        '/v1/destinations/@destination',
        '{"config":{"circuit_breaker":{"failure_threshold":#}}}',
        'config.circuit_breaker.failure_threshold',
      ],
      [
        "a route's filter",
        'POST',
        '/v1/endpoints/@endpoint/routes',
        '{"destination":"@destination","filter":{"path":"$.id","op":"eq","value":#}}',
        'filter.value',
      ],
      [
        "a route's filter",
        'PATCH',
        '/v1/endpoints/@endpoint/routes/@route',
        '{"filter":{"any":[{"path":"$.id","op":"eq","value":#}]}}',
        'filter.any.0.value',
      ],
      [
        'filters of a new endpoint',
        'POST',
        '/v1/endpoints',
        '{"slug":"exact","routes":[{"destination":"@destination"},{"destination":"@destination","filter":{"value":#}}]}',
        'routes.1.filter.value',
      ],
      [
        'rules',
        'PATCH',
        '/v1/endpoints/@endpoint',
        '{"responseRules":{"rules":[{"when":{"type":"json","path":"$.id","op":"eq","value":#},"respond":{}}]}}',
        'responseRules.rules.0.when.value',
      ],
      [
        'a filter in a trial',
        'POST',
        '/v1/endpoints/@endpoint/trial',
        '{"request":"@request","routes":[{"filter":{"path":"$.id","op":"eq","value":#}}]}',
        'routes.0.filter.value',
      ],
      [
        "an application endpoint's filter",
        'POST',
        '/v1/app/@application/endpoints',
        '{"url":"@url","filter":{"path":"$.id","op":"eq","value":#}}',
        'filter.value',
      ],
      [
        "an application endpoint's filter",
        'PATCH',
        '/v1/app/@application/endpoints/@own',
        '{"filter":{"path":"$.id","op":"eq","value":#}}',
        'filter.value',
      ],
      [
        "an alias' filter",
        'POST',
        '/v1/aliases',
        '{"kind":"platform","localPart":"exact","routes":[{"destination":"@destination","filter":{"path":"$.id","op":"eq","value":#}}]}',
        'routes.0.filter.value',
      ],
      [
        "an alias' filter",
        'PATCH',
        '/v1/aliases/@alias',
        '{"routes":[{"destination":"@destination","filter":{"path":"$.id","op":"eq","value":#}}]}',
        'routes.0.filter.value',
      ],
      [
        'a schema',
        'POST',
        '/v1/event-types',
        '{"name":"refused","schema":{"properties":{"id":{"enum":[1,#]}}}}',
        'schema.properties.id.enum.1',
      ],
      ['a schema', 'PATCH', '/v1/event-types/kept', '{"schema":{"const":#}}', 'schema.const'],
      ['an example', 'POST', '/v1/event-types', '{"name":"refused","example":{"id":#}}', 'example.id'],
      ['an example', 'PATCH', '/v1/event-types/kept', '{"example":{"id":#}}', 'example.id'],
    ])('%s: %s %s', async (_, method, path, body, fault) => {
      const before = await read();

      const answer = await ask(method, path, body.replace('#', HUGE));

      expectRefusal(answer, 422);
      expect(answer.json.error.details).toEqual({ check: 'schema', fields: [{ path: fault, message: SAID }] });
      expect(answer.json.error.message).toContain(SAID);
      expect(await read()).toEqual(before);
    });

    async function read(): Promise<unknown> {
      const paths = [
        '/v1/destinations/@destination',
        '/v1/endpoints/@endpoint',
        '/v1/app/@application/endpoints/@own',
        '/v1/aliases/@alias',
        '/v1/event-types/kept',
      ];
      const lists = [
        '/v1/destinations',
        '/v1/endpoints',
        '/v1/app/@application/endpoints',
        '/v1/aliases',
        '/v1/event-types',
      ];
      const read = await Promise.all(
        [...paths, ...lists].map(async (path) => expectStatus(await server.api('GET', filled(path)), 200).json),
      );
      return [...read.slice(0, paths.length), ...read.slice(paths.length).map(({ data }) => data.length)];
    }

    it.each<[number: string, message: string]>([
      [
        '1.00000000000000000001',
        '1.00000000000000000001 would be stored as 1: write it as a string, or with fewer digits',
      ],
      ['1e400', '1e400 is larger than any number that is stored: write it as a string'],
      ['1e-400', '1e-400 would be stored as 0: write it as a string, or with fewer digits'],
    ])('%s', async (number, message) => {
      const answer = await ask('PATCH', '/v1/event-types/kept', `{"example":{"a":[${number}]}}`);

      expectRefusal(answer, 422);
      expect(answer.json.error.details.fields).toEqual([{ path: 'example.a.0', message }]);
    });
  });

  it('200: another notation of an exact number is accepted, and so is an inexact number overridden by a later member of the same name', async () => {
    const answer = await ask(
      'PATCH',
      '/v1/event-types/kept',
      `{"example":{"a":[-0,1.10,1E+2,9007199254740992],"b":${HUGE},"b":"${HUGE}"}}`,
    );

    expect(expectStatus(answer, 200).json.example).toEqual({ a: [0, 1.1, 100, 9007199254740992], b: HUGE });
  });

  it('a filter with the number as a string matches exactly this number, and no neighbouring one', async () => {
    const { id: endpoint, at } = await inbound(server);
    const matches = async (number: string): Promise<boolean> => {
      const { id: request } = expectStatus(
        await provide(server, at, { headers: { 'content-type': 'application/json' }, body: `{"id":${number}}` }),
        200,
      ).json;
      const tried = await server.api('POST', `/v1/endpoints/${endpoint}/trial`, {
        request,
        routes: [{ filter: { path: '$.id', op: 'eq', value: HUGE } }],
      });
      return expectStatus(tried, 200).json.routes[0].matches;
    };

    expect([await matches(HUGE), await matches('12345678901234567891'), await matches('12345678901234567000')]).toEqual(
      [true, false, false],
    );
  });

  describe('200: is imported with an OpenAPI document, with a warning', () => {
    it.each<[string, string, string[]]>([
      [
        'spec',
        `{"spec":${DOCUMENT},"dry_run":true}`,
        ['spec.webhooks.imported.post.requestBody.content.application/json.schema.properties.id.maximum'],
      ],
      [
        'text in JSON',
        JSON.stringify({ text: DOCUMENT, dry_run: true }),
        ['text.webhooks.imported.post.requestBody.content.application/json.schema.properties.id.maximum'],
      ],
      [
        'text in YAML',
        JSON.stringify({ text: YAML }),
        ['text.webhooks.imported.post.tags.1.n', 'text.components.schemas.Order.properties.id.maximum'],
      ],
    ])('%s', async (_, body, paths) => {
      const answer = expectStatus(await ask('POST', '/v1/event-types/import/openapi', body), 200).json;

      expect(answer).toMatchObject({
        created: ['imported'],
        changed_numbers: paths.map((path) => ({ path, message: SAID })),
      });
    });

    it('422: but not outside the document', async () => {
      const answer = await ask('POST', '/v1/event-types/import/openapi', `{"spec":${DOCUMENT},"other":1}`);

      expectRefusal(answer, 422);
    });
  });

  it("an agent's tool forwards it: the payload is delivered unchanged", async () => {
    const target = targets.open();
    const destination = await destinationAt(server, target.url);
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_webhook","arguments":{"destination":"${destination}","event_type":"exact","payload":{"id":${HUGE},"deep":[{"n":1e400}]}}}}`;

    const answer = await server.api('POST', '/mcp', call, { accept: 'application/json, text/event-stream' });
    const [post] = await target.arrived(1);

    expect(expectStatus(answer, 200).text).toContain('message_id');
    expect(post?.rawBody.toString()).toBe(`{"id":${HUGE},"deep":[{"n":1e400}]}`);
  });
});
