import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { loadConfig } from '#kernel/config/config.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { Readiness } from '#kernel/observability/readiness.js';
import {
  type IncomingBytes,
  IncomingMail,
  type MailEnvelope,
  type RecipientVerdict,
  type SmtpAnswer,
} from '#modules/inbox/contract.js';
import { SMTP_LIMITS } from './limits.js';
import { SmtpMetrics } from './smtp.metrics.js';
import { SmtpListener } from './smtp-listener.js';

const TLS_FOLDER = path.resolve(import.meta.dirname, '../../test/support/tls');
const WITHIN_MS = 15_000;

class HeldClock extends Clock {
  ms = 0;
  override now(): Date {
    return new Date(this.ms);
  }

  override nowMs(): number {
    return this.ms;
  }

  override random(): number {
    return 0;
  }
}

/** Storage that accepts no message until the test allows it. */
class HeldMail extends IncomingMail {
  readonly taken: { envelope: MailEnvelope; text: string }[] = [];
  held: Promise<void> = Promise.resolve();

  override async recipient(address: string): Promise<RecipientVerdict> {
    if (!address.startsWith('box'))
      return { kind: 'refused', answer: { code: 550, enhanced: '5.1.1', text: 'No such mailbox.' } };
    return { kind: 'alias', route: { environmentId: 1, aliasId: address, maxSizeBytes: null, allowedSenders: [] } };
  }

  override async turn(): Promise<boolean> {
    return true;
  }

  override async accept(envelope: MailEnvelope, bytes: IncomingBytes): Promise<SmtpAnswer> {
    await this.held;
    this.taken.push({ envelope, text: bytes.whole?.toString() ?? '' });
    return { code: 250, enhanced: '2.6.0', text: 'Accepted.' };
  }

  override async drained(): Promise<void> {
    await this.held;
  }
}

class Client {
  private text = '';
  private closed = false;
  private wake = (): void => undefined;

  constructor(readonly socket: Socket) {
    socket
      .setEncoding('latin1')
      .on('error', () => undefined)
      .on('data', (chunk: string) => {
        this.text += chunk;
        this.wake();
      })
      .on('close', () => {
        this.closed = true;
        this.wake();
      });
  }

  async answer(): Promise<string> {
    for (;;) {
      const match = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(this.text);
      if (match) {
        this.text = this.text.slice(match[0].length);
        return match[0].trimEnd();
      }
      if (this.closed) return 'closed';
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  say(line: string): Promise<string> {
    this.socket.write(`${line}\r\n`);
    return this.answer();
  }

  async begin(): Promise<string> {
    await this.say('MAIL FROM:<a@b.example>');
    await this.say('RCPT TO:<box@c.example>');
    return this.say('DATA');
  }

  async ended(): Promise<string[]> {
    const answers: string[] = [];
    for (let answer = await this.answer(); answer !== 'closed'; answer = await this.answer()) answers.push(answer);
    return answers;
  }
}

interface Listening {
  listener: SmtpListener;
  mail: HeldMail;
  clock: HeldClock;
  port: number;
  greeted(localAddress?: string): Promise<Client>;
  connections(): Promise<number>;
}

const open: { listener: SmtpListener; sockets: Socket[] }[] = [];

async function listening(env: Record<string, string> = {}): Promise<Listening> {
  const config = loadConfig({
    DATABASE_URL: 'postgres://nowhere.example/x',
    MASTER_KEY: Buffer.alloc(32).toString('base64'),
    HOST: '127.0.0.1',
    ROLE: 'smtp',
    SMTP_PORT: '0',
    ...env,
  });
  const [mail, clock, readiness] = [new HeldMail(), new HeldClock(), new Readiness()];
  const listener = new SmtpListener(config, mail, new SmtpMetrics(new Metrics()), clock, readiness);
  const sockets: Socket[] = [];
  open.push({ listener, sockets });
  await listener.onApplicationBootstrap();
  const [port = 0] = config.listeningPorts;
  const greeted = async (localAddress = '127.0.0.1'): Promise<Client> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    sockets.push(socket);
    const client = new Client(socket);
    const greeting = await client.answer();
    if (!greeting.startsWith('220')) throw new Error(greeting);
    await client.say('EHLO client.example');
    return client;
  };
  return {
    listener,
    mail,
    clock,
    port,
    greeted,
    connections: async () => Number((await readiness.report()).parts['smtp']?.['connections']),
  };
}

async function until<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const deadlineMs = performance.now() + WITHIN_MS;
  for (;;) {
    const value = await ask();
    if (holds(value) || performance.now() > deadlineMs) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

beforeAll(() => Logger.overrideLogger(false));

afterEach(async () => {
  for (const { listener, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await listener.beforeApplicationShutdown();
  }
  jest.restoreAllMocks();
});

describe('a client that sends a byte a second', () => {
  it('421 4.4.2 at its deadline: nothing is stored, storage is not called, and no other client is delayed', async () => {
    const { mail, clock, greeted, connections } = await listening();
    const [slow, quick] = [await greeted(), await greeted()];
    expect(await slow.begin()).toMatch(/^354/);
    for (let second = 0; second < 60; second += 1) {
      clock.ms += 1_000;
      slow.socket.write('x');
    }
    await quick.begin();
    expect(await quick.say('Subject: quick\r\n\r\nx\r\n.')).toMatch(/^250 2\.6\.0 /);

    expect(await slow.ended()).toEqual([expect.stringMatching(/^421 4\.4\.2 /)]);
    expect(mail.taken.map(({ text }) => text)).toEqual(['Subject: quick\r\n\r\nx\r\n']);
    expect(await until(connections, (count) => count === 1)).toBe(1);
  });
});

describe('the certificate', () => {
  let folder: string;
  const [cert, key] = [(): string => path.join(folder, 'cert.pem'), (): string => path.join(folder, 'key.pem')];
  const use = (name: string, as: string): void => copyFileSync(path.join(TLS_FOLDER, `${name}.pem`), as);

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-cert-'));
    use('localhost-cert', cert());
    use('localhost-key', key());
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function shown({ greeted }: Listening): Promise<string> {
    const client = await greeted();
    expect(await client.say('STARTTLS')).toMatch(/^220/);
    client.socket.removeAllListeners('data');
    const secure = connectTls({ socket: client.socket, rejectUnauthorized: false });
    await once(secure, 'secureConnect');
    const { fingerprint256 } = secure.getPeerX509Certificate() ?? { fingerprint256: 'none' };
    secure.destroy();
    return fingerprint256;
  }

  const fingerprint = (name: string): string =>
    new X509Certificate(readFileSync(path.join(TLS_FOLDER, `${name}.pem`))).fingerprint256;

  it('that was replaced is used without a restart, and an open conversation continues', async () => {
    const said = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    const server = await listening({ SMTP_TLS_CERT: cert(), SMTP_TLS_KEY: key() });
    const before = await server.greeted();
    expect(await shown(server)).toBe(fingerprint('localhost-cert'));
    // Replaces only the key file, as if the certificate file had not been replaced yet.
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    use('renewed-key', key());
    server.clock.ms += 6_000;
    await until(
      async () => warned.mock.calls.length,
      (count) => count > 0,
    );
    expect(warned.mock.calls[0]?.[0]).toMatch(/certificate can't be read, the previous one stays/);
    expect(await shown(server)).toBe(fingerprint('localhost-cert'));
    use('renewed-cert', cert());
    server.clock.ms += 6_000;
    await until(
      async () => said.mock.calls.flat().includes('The certificate was reloaded.'),
      (isRead) => isRead,
    );

    expect(await shown(server)).toBe(fingerprint('renewed-cert'));
    await before.begin();
    expect(await before.say('Subject: x\r\n\r\nx\r\n.')).toMatch(/^250/);
  });

  it('serves a client that ends its side of the TLS connection after the message', async () => {
    const server = await listening({ SMTP_TLS_CERT: cert(), SMTP_TLS_KEY: key() });
    const plain = await server.greeted();
    expect(await plain.say('STARTTLS')).toMatch(/^220/);
    plain.socket.removeAllListeners('data');
    const secure = connectTls({ socket: plain.socket, rejectUnauthorized: false });
    await once(secure, 'secureConnect');
    const client = new Client(secure);
    await client.say('EHLO client.example');
    await client.begin();

    secure.end('Subject: x\r\n\r\nx\r\n.\r\n');

    expect(await client.answer()).toMatch(/^250 2\.6\.0/);
    expect(await client.answer()).toBe('closed');
  });

  it.each([
    ['is no certificate', 'rubbish'],
    ['is empty', ''],
  ])('that %s, or is missing, is ignored with a warning, and the previous one stays', async (_what, text) => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const server = await listening({ SMTP_TLS_CERT: cert(), SMTP_TLS_KEY: key() });
    for (const spoil of [() => writeFileSync(cert(), text), () => rmSync(cert(), { force: true })]) {
      warned.mockClear();
      spoil();
      server.clock.ms += 6_000;
      await until(
        async () => warned.mock.calls.length,
        (count) => count > 0,
      );
      expect(warned.mock.calls[0]?.[0]).toMatch(/the previous one stays/);
      expect(await shown(server)).toBe(fingerprint('localhost-cert'));
    }
  });
});

describe('a stop', () => {
  it('421 4.3.2 between messages, also after some; a message that is arriving or being stored gets its reply first', async () => {
    const { listener, mail, port, greeted } = await listening();
    const [idle, used, coming, storing] = [await greeted(), await greeted(), await greeted(), await greeted()];
    await used.begin();
    await used.say('Subject: used\r\n\r\nx\r\n.');
    await coming.begin();
    coming.socket.write('Subject: coming\r\n\r\nfirst half,');
    let release = (): void => undefined;
    mail.held = new Promise((resolve) => (release = resolve));
    await storing.begin();
    storing.socket.write('Subject: storing\r\n\r\nx\r\n.\r\n');
    await until(
      async () => mail.taken.length,
      (count) => count === 1,
    );
    const stopped = listener.beforeApplicationShutdown();

    expect(await idle.ended()).toEqual([expect.stringMatching(/^421 4\.3\.2 /)]);
    expect(await used.ended()).toEqual([expect.stringMatching(/^421 4\.3\.2 /)]);
    const late = connect(port, '127.0.0.1');
    await expect(once(late, 'connect')).rejects.toThrow(/ECONNREFUSED/);
    coming.socket.write(' second half\r\n.\r\n');
    release();
    for (const client of [coming, storing])
      expect(await client.ended()).toEqual([
        expect.stringMatching(/^250 2\.6\.0 /),
        expect.stringMatching(/^421 4\.3\.2 /),
      ]);
    await stopped;
    expect(mail.taken.map(({ text }) => text.split('\r\n')[0]).sort()).toEqual([
      'Subject: coming',
      'Subject: storing',
      'Subject: used',
    ]);
    expect(mail.taken.find(({ text }) => text.includes('coming'))?.text).toContain('first half, second half');
  });
});

describe('a flood of connections', () => {
  it('421 4.7.0 above the connection limit, from however many addresses; open connections are served', async () => {
    const { mail, greeted, port } = await listening();
    const addresses = Array.from(
      { length: SMTP_LIMITS.connections / SMTP_LIMITS.connectionsPerNetwork },
      (_, i) => `127.0.1.${i + 1}`,
    );
    const clients = await Promise.all(
      addresses.flatMap((address) => Array.from({ length: SMTP_LIMITS.connectionsPerNetwork }, () => greeted(address))),
    );
    const late = new Client(connect({ port, host: '127.0.0.1', localAddress: '127.0.2.1' }));

    expect(await late.ended()).toEqual([expect.stringMatching(/^421 4\.7\.0 /)]);
    const first = clients[0] as Client;
    await first.begin();
    expect(await first.say('Subject: first\r\n\r\nx\r\n.')).toMatch(/^250/);
    for (const client of clients) client.socket.destroy();
    const again = await until(
      () => greeted('127.0.2.2').then((client) => client.say('NOOP'), String),
      (answer) => answer.startsWith('250'),
    );
    expect([again.slice(0, 3), mail.taken.length]).toEqual(['250', 1]);
  }, 60_000);
});
