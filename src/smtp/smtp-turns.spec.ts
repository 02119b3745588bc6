import net from 'node:net';
import { SystemClock } from '#kernel/clock.js';
import type { Config } from '#kernel/config/config.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { Readiness } from '#kernel/observability/readiness.js';
import type { IncomingMail } from '#modules/inbox/contract.js';
import { SmtpMetrics } from './smtp.metrics.js';
import { SmtpListener } from './smtp-listener.js';

const ALIAS = {
  kind: 'alias',
  route: { environmentId: 1, aliasId: '019aa4c0-0000-7000-8000-000000000000', maxSizeBytes: null, allowedSenders: [] },
} as const;
const TRANSACTION = 'MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.org>\r\nDATA\r\n';

async function connect(port: number): Promise<{
  say: (text: string) => void;
  received: (text: string) => Promise<void>;
  said: () => string;
  close: () => void;
}> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  let text = '';
  let look = (): void => undefined;
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    look();
  });
  const received = (end: string): Promise<void> =>
    new Promise((resolve) => {
      look = () => text.includes(end) && resolve();
      look();
    });
  await received('220 ');
  socket.write('EHLO client.example\r\n');
  await received('\r\n250 ');
  text = '';
  return { say: (line) => socket.write(line), received, said: () => text, close: () => socket.destroy() };
}

describe('pacing of clients', () => {
  let listener: SmtpListener;
  let port: number;
  let turn: () => Promise<boolean>;

  beforeEach(async () => {
    const config = {
      platformDomain: 'posthorn.example',
      smtpName: null,
      smtpTls: null,
      smtpPort: 0,
      host: '127.0.0.1',
      isListener: true,
      isSmtpPortAsked: true,
      smtpTrustProxy: [],
      alsoListensOn: (bound: number) => (port = bound),
    } as unknown as Config;
    const mail = {
      turn: () => turn(),
      recipient: async () => ALIAS,
      accept: async () => ({ code: 250, enhanced: '2.6.0', text: 'Accepted.' }),
      drained: async () => undefined,
    } as unknown as IncomingMail;
    const metrics = new Metrics();
    listener = new SmtpListener(config, mail, new SmtpMetrics(metrics), new SystemClock(), new Readiness());
    await listener.onApplicationBootstrap();
  });

  afterEach(() => listener.beforeApplicationShutdown());

  it('makes a client wait at MAIL for its turn, and then accepts its message', async () => {
    let admit: (isIn: boolean) => void = () => undefined;
    turn = () => new Promise((resolve) => (admit = resolve));
    const client = await connect(port);
    client.say(`NOOP\r\n${TRANSACTION}`);
    await client.received('250 2.0.0 OK');
    expect(client.said()).not.toContain('354');

    admit(true);
    await client.received('354');
    client.say('Subject: x\r\n\r\nx\r\n.\r\n');

    await client.received('250 2.6.0 Accepted.');
    client.close();
  });

  it('asks a client to retry with 451 if its turn does not come in time', async () => {
    turn = async () => false;
    const client = await connect(port);
    client.say('MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.org>\r\n');

    await client.received('451 4.3.2');
    await client.received('503');
    client.close();
  });

  it('writes the replies to pipelined commands in one write, and later replies after it', async () => {
    turn = async () => true;
    const written: string[] = [];
    const { server } = (listener as unknown as { listener: { server: { connections: Set<{ _socket: net.Socket }> } } })
      .listener;
    const { connections } = server;
    const client = await connect(port);
    const [connection] = connections;
    const socket = connection?._socket as net.Socket;
    const write = socket.write.bind(socket);
    socket.write = (text: string) => {
      written.push(`${socket.writableCorked > 0 ? 'kept' : 'sent'} ${text.slice(0, 3)}`);
      return write(text);
    };

    client.say(TRANSACTION);
    await client.received('354');
    client.say('Subject: x\r\n\r\nx\r\n.\r\nQUIT\r\n');
    await client.received('221');

    expect(written).toEqual(['kept 250', 'kept 250', 'kept 354', 'kept 250', 'sent 221']);
    expect(client.said().match(/^\d{3}/gm)).toEqual(['250', '250', '354', '250', '221']);
    client.close();
  });
});
