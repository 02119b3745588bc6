import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import type { Mailbox } from '#engine/mail/addresses.js';
import { Clock } from '#kernel/clock.js';
import { loadConfig } from '#kernel/config/config.js';
import { ApiError, conflict, unavailable } from '#kernel/errors.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { Readiness } from '#kernel/observability/readiness.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import type { AcceptSubmittedMessage } from '#modules/email/accept-submitted-message.js';
import { SUBMISSION_LIMITS } from './limits.js';
import { SubmissionMetrics } from './smtp.metrics.js';
import { SubmissionListener } from './submission-listener.js';
import type { SubmissionLogin } from './submission-login.js';
import { loginReply, messageReply } from './submission-replies.js';

const WITHIN_MS = 15_000;
const ID = '0192d5a4-0000-7000-8000-000000000001';
const CALLER: Caller = {
  tenant: { environmentId: 1, organizationId: 'org', mode: 'live' },
  keyId: 'key',
  scope: 'write',
};

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

/** A client that reads replies line by line. */
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

  /** Logs in and starts a message. Returns the reply to DATA. */
  async begin(): Promise<string> {
    await this.say(`AUTH PLAIN ${Buffer.from('\0user\0key').toString('base64')}`);
    await this.say('MAIL FROM:<a@b.example>');
    await this.say('RCPT TO:<c@d.example>');
    return this.say('DATA');
  }

  async ended(): Promise<string[]> {
    const answers: string[] = [];
    for (let answer = await this.answer(); answer !== 'closed'; answer = await this.answer()) answers.push(answer);
    return answers;
  }
}

interface Listening {
  listener: SubmissionListener;
  clock: HeldClock;
  /** Texts of the accepted messages. */
  taken: string[];
  /** Makes each later message wait for this promise. */
  hold(until: Promise<void>): void;
  greeted(localAddress?: string): Promise<Client>;
}

const open: { listener: SubmissionListener; sockets: Socket[] }[] = [];

async function listening(): Promise<Listening> {
  const config = loadConfig({
    DATABASE_URL: 'postgres://nowhere.example/x',
    MASTER_KEY: Buffer.alloc(32).toString('base64'),
    ROLE: 'smtp',
    SMTP_PORT: '0',
    SUBMISSION_PORT: '0',
  });
  const clock = new HeldClock();
  const taken: string[] = [];
  let held = Promise.resolve();
  const emails = {
    accept: async (_tenant: Tenant, _recipients: readonly Mailbox[], raw: Buffer) => {
      await held;
      taken.push(raw.toString());
      return { id: ID, status: 'sending' };
    },
  } as unknown as AcceptSubmittedMessage;
  const login = { check: async () => CALLER, admit: async () => CALLER } as unknown as SubmissionLogin;
  const metrics = new SubmissionMetrics(new Metrics());
  const listener = new SubmissionListener(config, login, emails, metrics, clock, new Readiness());
  const sockets: Socket[] = [];
  open.push({ listener, sockets });
  await listener.onApplicationBootstrap();
  const [port = 0] = config.listeningPorts;
  return {
    listener,
    clock,
    taken,
    hold: (until) => void (held = until),
    greeted: async (localAddress = '127.0.0.1') => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      sockets.push(socket);
      const client = new Client(socket);
      const greeting = await client.answer();
      if (!greeting.startsWith('220')) throw new Error(greeting);
      await client.say('EHLO client.example');
      return client;
    },
  };
}

beforeAll(() => Logger.overrideLogger(false));

afterEach(async () => {
  for (const { listener, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await listener.beforeApplicationShutdown();
  }
});

it('421 4.4.2 for a client that sends a byte a second: nothing is accepted, and no other client is delayed', async () => {
  const { clock, taken, greeted } = await listening();
  const [slow, quick] = [await greeted(), await greeted()];
  expect(await slow.begin()).toMatch(/^354/);
  for (let second = 0; second < 60; second += 1) {
    clock.ms += 1_000;
    slow.socket.write('x');
  }

  await quick.begin();
  expect(await quick.say('Subject: quick\r\n\r\nx\r\n.')).toMatch(/^250 2\.0\.0 evt_[0-9A-Z]{26}$/);
  expect(await slow.ended()).toEqual([expect.stringMatching(/^421 4\.4\.2 /)]);
  expect(taken).toEqual(['Subject: quick\r\n\r\nx\r\n']);
});

it('421 4.4.2 for a session that lasts half an hour without a login', async () => {
  const { clock, greeted } = await listening();
  const client = await greeted();

  clock.ms += SUBMISSION_LIMITS.sessionMs + 1;
  expect(await client.ended()).toEqual([expect.stringMatching(/^421 4\.4\.2 /)]);
});

it('421 4.7.0 after the hundredth connection of an address, and other addresses are served', async () => {
  const { greeted } = await listening();
  for (let i = 0; i < SUBMISSION_LIMITS.connectionsPerNetwork; i += 10)
    await Promise.all(Array.from({ length: 10 }, () => greeted()));

  await expect(greeted()).rejects.toThrow(/^421 4\.7\.0 /);
  expect(await (await greeted('127.0.0.9')).begin()).toMatch(/^354/);
}, 60_000);

it('a stop: 421 4.3.2 between messages; a message that is arriving or being stored gets its reply first', async () => {
  const { listener, taken, hold, greeted } = await listening();
  const [idle, coming, storing] = [await greeted(), await greeted(), await greeted()];
  await coming.begin();
  coming.socket.write('Subject: coming\r\n\r\nfirst half,');
  let release = (): void => undefined;
  hold(new Promise((resolve) => (release = resolve)));
  await storing.begin();
  storing.socket.write('Subject: storing\r\n\r\nx\r\n.\r\n');
  const deadlineMs = performance.now() + WITHIN_MS;
  const stopped = listener.beforeApplicationShutdown();

  expect(await idle.ended()).toEqual([expect.stringMatching(/^421 4\.3\.2 /)]);
  coming.socket.write(' second half\r\n.\r\n');
  release();
  for (const client of [coming, storing])
    expect(await client.ended()).toEqual([
      expect.stringMatching(/^250 2\.0\.0 /),
      expect.stringMatching(/^421 4\.3\.2 /),
    ]);
  await stopped;
  expect(taken.map((text) => text.split('\r\n')[0]).sort()).toEqual(['Subject: coming', 'Subject: storing']);
  expect(performance.now()).toBeLessThan(deadlineMs);
});

it('a message of more than 256 KB is accepted whole, and a client that leaves in the middle leaves nothing', async () => {
  const { taken, greeted } = await listening();
  const [gone, large] = [await greeted(), await greeted()];
  const text = `Subject: large\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(700)}`;
  await gone.begin();
  gone.socket.write(text.slice(0, 400_000));
  gone.socket.destroy();
  await once(gone.socket, 'close');

  await large.begin();
  expect(await large.say(`${text}.`)).toMatch(/^250 2\.0\.0 /);
  expect(taken).toEqual([text]);
});

it.each<[ApiError | Error, string, string]>([
  [new ApiError('validation_failed', 'x'), '554 5.6.0', '454 4.7.0'],
  [new ApiError('validation_failed', 'x', { reason: 'domain_not_verified' }), '550 5.7.1', '454 4.7.0'],
  [new ApiError('validation_failed', 'x', { check: 'policy' }), '550 5.7.1', '454 4.7.0'],
  [new ApiError('payload_too_large', 'x'), '552 5.3.4', '454 4.7.0'],
  [new ApiError('unauthenticated', 'x'), '535 5.7.8', '535 5.7.8'],
  [new ApiError('insufficient_scope', 'x'), '550 5.7.1', '535 5.7.8'],
  [new ApiError('rate_limited', 'x'), '451 4.7.0', '454 4.7.0'],
  [new ApiError('internal', 'x'), '451 4.3.0', '454 4.7.0'],
  [unavailable('x'), '451 4.3.0', '454 4.7.0'],
  [conflict('x', { reason: 'in_flight' }), '451 4.3.0', '454 4.7.0'],
  [conflict('x', { reason: 'key_reused' }), '554 5.6.0', '454 4.7.0'],
  [new Error('secret'), '451 4.3.0', '454 4.7.0'],
])('%s is %s for a message and %s for a login', (error, message, login) => {
  expect([messageReply(error), loginReply(error)].map(({ code, enhanced }) => `${code} ${enhanced}`)).toEqual([
    message,
    login,
  ]);
  expect(messageReply(error).text).not.toContain('secret');
});
