import { createServer, type IncomingMessage, type Server } from 'node:http';
import { destinationConformance, type DestinationUnderTest, type ReceivedMessage } from '../../src/testing/index.js';
import { freePort } from '../durability/processes.js';
import { startServer } from '../support/server.js';

/** A receiver that tests can stop completely, or keep running without answers. */
class Target {
  readonly messages: ReceivedMessage[] = [];
  isSilent = false;
  private server: Server | null = null;

  constructor(readonly port: number) {}

  async up(): Promise<void> {
    const server = createServer((request, response) => {
      void this.read(request).then(
        () => (this.isSilent ? null : response.end()),
        () => response.destroy(),
      );
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

  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.server?.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }

  private async read(request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method === 'POST' && !this.isSilent)
      this.messages.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks) });
  }
}

let target: Target;
let deadPort: number;

const subject: DestinationUnderTest = {
  type: 'https',
  start: (env = {}) => startServer(env),
  draft: () => ({ url: `http://127.0.0.1:${target.port}/` }),
  brokenDrafts: [
    { name: 'no url', draft: {}, path: 'url' },
    { name: 'a password in the url', draft: { url: 'https://a:b@example.com' }, path: 'url' },
    { name: 'credentials', draft: { url: 'https://example.com', credentials: { token: 'a' } }, path: 'credentials' },
  ],
  unreachableDraft: () => ({ url: `http://127.0.0.1:${deadPort}/` }),
  received: () => target.messages,
  stopTarget: () => target.down(),
  startTarget: () => target.up(),
  freezeTarget: async () => void (target.isSilent = true),
  thawTarget: async () => void (target.isSilent = false),
  connections: () => target.connections(),
};

/** Shows that the suite is not specific to NATS: a built-in destination type passes it, too. */
describe('the conformance suite, with the built-in type https', () => {
  const { checks, end } = destinationConformance(subject);

  beforeAll(async () => {
    [target, deadPort] = [new Target(await freePort()), await freePort()];
    await target.up();
  });

  afterAll(async () => {
    await end();
    await target.down();
  });

  it.each(checks.map(({ name, run }) => [name, run] as const))('%s', (_name, run) => run(), 60_000);
});
