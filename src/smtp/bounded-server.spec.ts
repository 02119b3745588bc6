import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { BoundedServer } from './bounded-server.js';
import { Conversations } from './conversations.js';
import { SMTP_LIMITS } from './limits.js';
import { serverOptions } from './port-listener.js';

const TLS_FOLDER = path.resolve(import.meta.dirname, '../../test/support/tls');
/** Shorter than the idle timeout of the server, after which it closes any connection. */
const WITHIN_MS = 15_000;
const CERTIFICATE = {
  cert: readFileSync(path.join(TLS_FOLDER, 'localhost-cert.pem')),
  key: readFileSync(path.join(TLS_FOLDER, 'localhost-key.pem')),
};
/** The start of a TLS record of 512 bytes. */
const PARTIAL_HELLO = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]);
const MESSAGE = 'Subject: x\r\n\r\nx\r\n.\r\n';

const sockets: Socket[] = [];
const servers: BoundedServer[] = [];

async function listening(isImplicitTls: boolean): Promise<{ server: BoundedServer; port: number }> {
  const conversations = new Conversations(SMTP_LIMITS, () => 0);
  const server = new BoundedServer(
    {
      ...serverOptions('mx.example', SMTP_LIMITS, CERTIFICATE),
      secure: isImplicitTls,
      onData: (stream, _session, callback) => {
        stream.resume().on('end', () => setTimeout(() => callback(null), 50));
      },
      onClose: ({ id }) => conversations.end(id),
    },
    [],
    conversations,
    { refused: () => undefined },
  );
  server.on('error', () => undefined);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return { server, port: (server.server.address() as AddressInfo).port };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

async function secured(socket: Socket): Promise<Socket> {
  const secure = connectTls({ socket, rejectUnauthorized: false });
  secure.allowHalfOpen = true;
  await once(
    secure.on('error', () => undefined),
    'secureConnect',
  );
  return secure;
}

/** Reads until the text matches. */
async function read(socket: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  while (!pattern.test(text)) text += String((await once(socket, 'data'))[0]);
  return text;
}

async function said(socket: Socket, lines: string, pattern: RegExp): Promise<Socket> {
  const reply = read(socket, pattern);
  socket.write(lines);
  await reply;
  return socket;
}

/** Returns a socket to which a server without implicit TLS has sent its greeting. */
async function greeted(port: number): Promise<Socket> {
  const socket = await connected(port);
  await read(socket, /^220 /m);
  return said(socket, 'EHLO client.example\r\n', /^250 /m);
}

async function startingTls(port: number): Promise<Socket> {
  const socket = await said(await greeted(port), 'STARTTLS\r\n', /^220 /m);
  socket.removeAllListeners('data');
  return socket;
}

async function securedAndGreeted(port: number, isImplicitTls: boolean): Promise<Socket> {
  if (!isImplicitTls) return said(await secured(await startingTls(port)), 'EHLO a.example\r\n', /^250 /m);
  const socket = await secured(await connected(port));
  await read(socket, /^220 /m);
  return said(socket, 'EHLO client.example\r\n', /^250 /m);
}

/** Returns the number of open connections, after waiting until there are none. */
async function remaining({ server }: BoundedServer): Promise<number> {
  const deadlineMs = performance.now() + WITHIN_MS;
  for (;;) {
    const count = await new Promise<number>((resolve) => server.getConnections((_, n) => resolve(n)));
    if (count === 0 || performance.now() > deadlineMs) return count;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise<void>((resolve) => server.close(resolve))));
});

type Opened = (port: number) => Promise<Socket>;
const partly =
  (open: Opened): Opened =>
  async (port) => {
    const socket = await open(port);
    socket.write(PARTIAL_HELLO);
    return socket;
  };

describe('a client that leaves', () => {
  const pipelined: Opened = async (port) => {
    const socket = await connected(port);
    socket.write('EHLO a.example\r\nSTARTTLS\r\n');
    return socket;
  };
  const inMessage: Opened = async (port) => {
    const socket = await said(await greeted(port), 'MAIL FROM:<a@b.example>\r\n', /^250 /m);
    await said(socket, 'RCPT TO:<c@d.example>\r\n', /^250 /m);
    return said(socket, 'DATA\r\nhalf a line', /^354 /m);
  };
  const cases: [string, boolean, Opened][] = [
    ['before the greeting', false, connected],
    ['after EHLO', false, greeted],
    ['in a message', false, inMessage],
    ['right after STARTTLS, before its reply', false, pipelined],
    ['after STARTTLS', false, startingTls],
    ['in the handshake after STARTTLS', false, partly(startingTls)],
    ['in the TLS session after STARTTLS', false, (port) => securedAndGreeted(port, false)],
    ['before the handshake of implicit TLS', true, connected],
    ['in the handshake of implicit TLS', true, partly(connected)],
    ['in the session of implicit TLS', true, (port) => securedAndGreeted(port, true)],
  ];

  it.each(cases)('%s by ending its side is disconnected at once', async (_when, isImplicitTls, open) => {
    const { server, port } = await listening(isImplicitTls);
    const socket = await open(port);

    socket.resume().end();

    expect(await remaining(server)).toBe(0);
  });

  it.each(cases)('%s by closing its socket is disconnected at once', async (_when, isImplicitTls, open) => {
    const { server, port } = await listening(isImplicitTls);
    const socket = await open(port);

    socket.destroy();

    expect(await remaining(server)).toBe(0);
  });
});

it.each<[string, boolean, Opened]>([
  ['without TLS', false, greeted],
  ['after STARTTLS', false, (port) => securedAndGreeted(port, false)],
  ['with implicit TLS', true, (port) => securedAndGreeted(port, true)],
])('a client that ends its side after a message %s gets its reply', async (_how, isImplicitTls, open) => {
  const { server, port } = await listening(isImplicitTls);
  const socket = await open(port);
  await said(socket, 'MAIL FROM:<a@b.example>\r\n', /^250 /m);
  await said(socket, 'RCPT TO:<c@d.example>\r\n', /^250 /m);
  await said(socket, 'DATA\r\n', /^354 /m);

  const reply = read(socket, /\r\n$/);
  socket.end(MESSAGE);

  expect(await reply).toMatch(/^250 /);
  expect(await remaining(server)).toBe(0);
});
