import { readFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../durability/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { isNginxInstalled, Nginx } from './nginx.js';

const EXAMPLE = path.resolve(import.meta.dirname, '..', '..', 'examples', 'cells');
const CERTIFICATE = /listen 443 ssl;\s*ssl_certificate \S+;\s*ssl_certificate_key \S+;/;
const SLUGS = ['acme', 'globex'] as const;

const describeWithNginx = isNginxInstalled() ? describe : describe.skip;

describeWithNginx('two cells behind the router of examples/cells', () => {
  let router: Nginx;
  let url: string;
  let cells: PosthornServer[] = [];
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await startReceiver();
    const [port, ...ports] = [await freePort(), await freePort(), await freePort()];
    url = `http://127.0.0.1:${port}`;
    cells = await Promise.all(ports.map((own) => startServer({ BASE_URL: url, PORT: String(own) })));
    router = await Nginx.start('include cells/cells.conf;', exampleFor(port, ports, cells), url);
    for (const [i, cell] of cells.entries())
      expect((await through('PATCH', '/v1/org', keyOf(cell), { slug: SLUGS[i] })).status).toBe(200);
  });

  afterAll(async () => {
    await router?.stop();
    await Promise.all(cells.map((cell) => cell.stop().catch(() => undefined)));
    await receiver?.close();
  });

  it('202: a send goes to the cell of its key and is delivered from there, and the other cell does not store it', async () => {
    const [, second] = cells;

    const sent = await through('POST', '/v1/send', keyOf(second), {
      destination: `${receiver.url}/of-two`,
      event_type: 'order.paid',
      payload: { cell: 2 },
    });
    expect(sent.status).toBe(202);
    await receiver.waitFor(1);

    expect(receiver.requests.map(({ path: at }) => at)).toEqual(['/of-two']);
    const { message_id: id } = sent.json as { message_id: string };
    expect((await listed(keyOf(second))).map((event) => event.message_id)).toEqual([id]);
    expect(await listed(keyOf(cells[0]))).toEqual([]);
  });

  it("200: a provider's request goes to the cell of the slug in its path, byte for byte, whatever key it contains", async () => {
    for (const cell of cells)
      expect((await through('POST', '/v1/endpoints', keyOf(cell), { slug: 'orders' })).status).toBe(201);
    const raw = '{ "amount": 1.10,  "name": "Zo\u00eb" }';

    const answers = await Promise.all(SLUGS.map((slug) => through('POST', `/in/${slug}/orders`, keyOf(cells[0]), raw)));

    expect(answers.map(({ status, json }) => [status, (json as { received: boolean }).received])).toEqual([
      [200, true],
      [200, true],
    ]);
    for (const [i, cell] of cells.entries()) {
      const { id } = answers[i]?.json as { id: string };
      const shown = await through('GET', `/v1/events/${id}`, keyOf(cell));
      expect([shown.status, shown.text.includes('Zo\u00eb')]).toEqual([200, true]);
    }
  });

  it('401 and 404: an unknown key and an unknown slug get the answer of a single cell', async () => {
    const unknown = `ek_live_${'0'.repeat(49)}`;

    expect((await through('GET', '/v1/org', unknown)).status).toBe(401);
    expect((await through('POST', '/in/nobody/orders', null, '{}')).status).toBe(404);
  });

  it('a cell that is down does not affect the others', async () => {
    await cells[1]?.kill('SIGKILL');

    expect((await through('GET', '/v1/org', keyOf(cells[1]))).status).toBe(502);
    expect((await through('GET', '/v1/org', keyOf(cells[0]))).json).toMatchObject({ slug: 'acme' });
  });

  async function listed(key: string): Promise<{ message_id: string }[]> {
    const { json } = await through('GET', '/v1/events', key);
    return (json as { data: { message_id: string; direction: string }[] }).data;
  }

  async function through(
    method: string,
    at: string,
    key: string | null,
    body?: unknown,
  ): Promise<{ status: number; json: unknown; text: string }> {
    const headers = {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const sent = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(url + at, { method, headers, body: sent });
    const text = await response.text();
    return {
      status: response.status,
      text,
      json: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : null,
    };
  }
});

const keyOf = (cell: PosthornServer | undefined): string => cell?.apiKey ?? '';

/** Returns the files of the example with this test's addresses, keys and slugs, and without TLS. */
function exampleFor(port: number, ports: readonly number[], cells: readonly PosthornServer[]): Record<string, string> {
  const example = readFileSync(path.join(EXAMPLE, 'cells.conf'), 'utf8');
  expect(example).toMatch(CERTIFICATE);
  const conf = example
    .replace(CERTIFICATE, `listen 127.0.0.1:${port};`)
    .replace(/^ *server 10\.0\.\d\.12:.*\n/gm, '')
    .replace(/10\.0\.(\d)\.11:3000/g, (_address, number: string) => `127.0.0.1:${ports[Number(number) - 1]}`);
  const map = (lines: readonly string[]): string => lines.map((line, i) => `${line} cell-${i + 1};\n`).join('');
  return {
    'cells/cells.conf': conf,
    'cells/keys.map': map(cells.map(({ apiKey }) => apiKey.slice(0, 20))),
    'cells/slugs.map': map(SLUGS),
  };
}
