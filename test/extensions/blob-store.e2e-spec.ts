import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import path from 'node:path';
import { blobStoreConformance, type BlobStoreUnderTest } from '../../src/testing/index.js';
import { EMAIL, emailAfter, emailIn, sendEmail } from '../api/emailing.js';
import { aliasTo, deliver, letter, messagesOf } from '../api/mailing.js';
import { until } from '../api/polling.js';
import {
  destinationAt,
  expectStatus,
  makeDue,
  openSql,
  type Sql,
  startTargets,
  type Targets,
  uuidOf,
  WITHIN_MS,
} from '../api/scene.js';
import { smtpPortOf } from '../api/smtp-client.js';
import { freePort } from '../durability/processes.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { type InlineExtension, inlineExtension } from './inline-extension.js';
import { compileSample, SMALL_SAMPLE } from './sample.js';

/** Acme's HTTP API for blobs, which can be stopped. */
class AcmeApi {
  readonly blobs = new Map<string, Buffer>();
  private server: Server | null = null;

  constructor(readonly port: number) {}

  async up(): Promise<void> {
    const server = createServer((request, response) => {
      void this.answer(request).then((bytes) => response.writeHead(bytes === null ? 404 : 200).end(bytes));
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
  }

  async down(): Promise<void> {
    const { server } = this;
    if (server === null) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  private async answer(request: IncomingMessage): Promise<Buffer | null> {
    const { method, url = '' } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (method === 'PUT') this.blobs.set(url, Buffer.concat(chunks));
    const found = this.blobs.get(url) ?? null;
    if (method === 'DELETE') this.blobs.delete(url);
    return method === 'GET' ? found : Buffer.alloc(0);
  }
}

describe("the sample's blob store", () => {
  let api: AcmeApi;
  let server: PosthornServer;

  beforeAll(async () => {
    api = new AcmeApi(await freePort());
    await api.up();
    server = await startServer({
      EXTENSIONS: compileSample(SMALL_SAMPLE).file,
      BLOB_STORE: 'extension:acme',
      ACME_BLOBS_URL: `http://127.0.0.1:${api.port}`,
    });
  });

  afterAll(async () => {
    await server?.stop();
    await api?.down();
  });

  const subject: BlobStoreUnderTest = {
    service: () => server,
    blobs: () => api.blobs.size,
    stopServer: () => api.down(),
    startServer: () => api.up(),
  };

  it.each(blobStoreConformance(subject).map(({ name, run }) => [name, run] as const))(
    '%s',
    (_name, run) => run(),
    60_000,
  );
});

/** Code of a blob store in memory. The file ODD_ACT selects how the blob store misbehaves. */
const ODD = `
import { readFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import { BlobStorage, NamedBlobStore } from 'posthorn';

const blobs = new Map();
const act = (acts) => acts[readFileSync(process.env.ODD_ACT, 'utf8')];
const fail = () => { throw new Error('a bug, and a password: hunter2'); };
const never = () => new Promise(() => undefined);
const PUTS = { 'put: throws': fail, 'put: never ends': never };
const READS = {
  'read: throws': fail,
  'read: never ends': never,
  'read: returns undefined': () => undefined,
  'read: returns a Buffer': () => Buffer.from('a'),
  'read: returns text': async function* () { yield 'a'; },
  'read: returns no bytes': async function* () {},
  'read: throws at the first chunk': async function* () { fail(); },
  'read: never returns a chunk': async function* () { await never(); },
};

export class OddBlobs extends NamedBlobStore {
  name = 'odd';
  get callMsMax() { return 1_000; }
  async put({ id }, bytes) {
    await act(PUTS)?.();
    blobs.set(id, bytes);
  }
  async putFrom(key, chunks, size) {
    if (act({ 'putFrom: reads nothing': true })) return;
    await super.putFrom(key, chunks, size);
  }
  async read({ id }) {
    const odd = act(READS);
    if (odd) return odd();
    const bytes = blobs.get(id);
    return bytes === undefined ? null : (async function* () { yield bytes; })();
  }
  async remove({ id }) { blobs.delete(id); }
  async sweep() { return { removed: 0, isMore: false }; }
}
BlobStorage()(OddBlobs);

export default class OddModule {}
Module({ providers: [OddBlobs] })(OddModule);
`;
const READS = [
  'read: throws',
  'read: never ends',
  'read: returns undefined',
  'read: returns a Buffer',
  'read: returns text',
  'read: returns no bytes',
  'read: throws at the first chunk',
  'read: never returns a chunk',
];

describe('a misbehaving blob store', () => {
  let odd: InlineExtension;
  let targets: Targets;
  let server: PosthornServer;
  let sql: Sql;

  const act = (name = ''): void => writeFileSync(path.join(path.dirname(odd.file), 'act'), name);
  const emails = async (): Promise<string[]> =>
    (expectStatus(await server.api('GET', '/v1/emails'), 200).json.data as { id: string }[]).map(({ id }) => id);

  beforeAll(async () => {
    odd = inlineExtension(ODD);
    act();
    targets = await startTargets();
    server = await startServer({
      EXTENSIONS: odd.file,
      LOG_LEVEL: 'info',
      BLOB_STORE: 'extension:odd',
      ODD_ACT: path.join(path.dirname(odd.file), 'act'),
    });
    sql = openSql(server);
  });

  afterEach(() => act());

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
    odd?.remove();
  });

  it.each(['put: throws', 'put: never ends'])(
    '503: an email that cannot be stored is not accepted (%s)',
    async (name) => {
      const before = await emails();
      act(name);

      const answer = await server.api('POST', '/v1/emails', EMAIL);

      expectStatus(answer, 503);
      expect(answer.text).not.toContain('hunter2');
      expect(await emails()).toEqual(before);
    },
  );

  it.each(READS)('503: a stored email that cannot be read is not missing (%s)', async (name) => {
    const id = await sendEmail(server);
    await emailIn(server, id, 'delivered');
    act(name);

    const answer = await server.api('GET', `/v1/emails/${id}/raw`);
    act();
    const again = await server.api('GET', `/v1/emails/${id}/raw`);

    expectStatus(answer, 503);
    expect(answer.text).not.toContain('hunter2');
    expectStatus(again, 200);
  });

  it('an email whose message cannot be read waits without using an attempt, and is then sent', async () => {
    act('read: returns undefined');
    const id = await sendEmail(server, { to: 'bob@b.example' });
    await until(
      () => sql.rows("select from due_deliveries where event_id = $1 and due_at > now() + '5 s'", [uuidOf(id)]),
      (postponed) => postponed.length === 1,
      WITHIN_MS,
    );

    act();
    await makeDue(sql, id);

    await emailIn(server, id, 'delivered');
    // Waits for the attempt, which is committed after the status of the recipients.
    expect((await emailAfter(server, id, 1)).attempts).toHaveLength(1);
  });

  it('451: a large received message of which the store read only a part is not accepted', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const { id, address } = await aliasTo(server, [destination]);
    const large = letter('large', '') + 'a line of text\r\n'.repeat(40_000);
    act('putFrom: reads nothing');

    await expect(deliver(smtpPortOf(server), address, large)).rejects.toThrow(/451/);
    act();
    await deliver(smtpPortOf(server), address, large);

    expect(await messagesOf(server, id, 1)).toHaveLength(1);
  });

  it('the service does not start with an unknown store, and lists the known ones', async () => {
    const start = startServer({ ...server.env, BLOB_STORE: 'extension:odder' });

    await expect(start).rejects.toThrow(
      /BLOB_STORE=extension:odder names no loaded provider\. Known: postgres, .*, extension:odd\./,
    );
  });

  it('the service does not start if two stores have the same name', async () => {
    const other = inlineExtension(ODD.replaceAll('OddModule', 'OtherModule'));

    const start = startServer({ ...server.env, EXTENSIONS: `${odd.file},${other.file}` });

    await expect(start.finally(() => other.remove())).rejects.toThrow(
      /There are two providers for BLOB_STORE=extension:odd: /,
    );
  });
});
