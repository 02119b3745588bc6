import { destinationConformance, type DestinationDraft, type DestinationUnderTest } from '../../src/testing/index.js';
import { freePort } from '../durability/processes.js';
import { startServer } from '../support/server.js';
import { isNatsInstalled, NatsServer, PASSWORD, USER } from './nats-server.js';
import { type CompiledSample, compileSample } from './sample.js';

const STREAM = 'ORDERS';

let nats: NatsServer;
let sample: CompiledSample;
let deadPort: number;

const credentials = { user: USER, password: PASSWORD };
const draft = (config: Record<string, unknown> = {}): DestinationDraft => ({
  config: { servers: [nats.address], subject: 'orders.{event_type}', ...config },
  credentials,
});

const subject: DestinationUnderTest = {
  type: 'nats',
  start: (env = {}) => startServer({ EXTENSIONS: sample.file, ...env }),
  draft: () => draft({ stream: STREAM }),
  brokenDrafts: [
    { name: 'no servers', draft: { config: { subject: 'orders' } }, path: 'config.servers' },
    {
      name: 'no address',
      draft: { config: { servers: ['example.com'], subject: 'orders' } },
      path: 'config.servers.0',
    },
    {
      name: 'a password in an address',
      draft: { config: { servers: 'nats://a:b@example.com', subject: 'orders' } },
      path: 'config.servers',
    },
    {
      name: 'a wildcard',
      draft: { config: { servers: 'tls://example.com', subject: 'orders.>' } },
      path: 'config.subject',
    },
    {
      name: 'a subject of the server itself',
      draft: { config: { servers: 'tls://example.com', subject: '$JS.API.STREAM.PURGE.ORDERS' } },
      path: 'config.subject',
    },
    {
      name: 'a stream of no name',
      draft: { config: { servers: 'tls://example.com', subject: 'a', stream: 'a b' } },
      path: 'config.stream',
    },
    {
      name: 'half of the credentials',
      draft: { config: { servers: 'tls://example.com', subject: 'a' }, credentials: { user: 'a' } },
      path: 'credentials',
    },
    {
      name: 'a url',
      draft: { url: 'https://example.com', config: { servers: 'tls://example.com', subject: 'a' } },
      path: 'url',
    },
  ],
  unreachableDraft: () => draft({ servers: [`nats://127.0.0.1:${deadPort}`] }),
  refusedDraft: () => ({ ...draft(), credentials: { user: USER, password: 'not-the-password-of-anybody' } }),
  received: () => nats.stored(STREAM),
  stopTarget: () => nats.down(),
  startTarget: () => nats.up(),
  freezeTarget: async () => nats.freeze(),
  thawTarget: async () => nats.thaw(),
  connections: () => nats.connections(),
};

(isNatsInstalled() ? describe : describe.skip)('the sample: destinations of type nats', () => {
  const { checks, end } = destinationConformance(subject);

  beforeAll(async () => {
    sample = compileSample();
    [nats, deadPort] = await Promise.all([NatsServer.start(), freePort()]);
    await nats.addStream(STREAM, ['orders.>']);
  });

  afterAll(async () => {
    await end();
    await nats?.stop();
  });

  it.each(checks.map(({ name, run }) => [name, run] as const))('%s', (_name, run) => run(), 60_000);
});
