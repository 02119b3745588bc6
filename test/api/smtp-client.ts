import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { PosthornServer } from '../support/server.js';
import { expectStatus } from './scene.js';

/** Returns the SMTP port that the server logs at startup. Requires LOG_LEVEL info. */
export function smtpPortOf(server: PosthornServer): number {
  const port = /Mail for \S+ on port (\d+)/.exec(server.logs())?.[1];
  if (port === undefined) throw new Error(`The server names no port for mail. It wrote:\n${server.logs()}`);
  return Number(port);
}

/** An SMTP session, line by line. */
export class SmtpTalk {
  private text = '';
  private closed = false;
  private readonly wake = new Set<() => void>();

  private constructor(readonly socket: Socket) {
    socket
      .setEncoding('latin1')
      .on('data', (chunk: string) => this.onData(chunk))
      .on('error', () => undefined)
      .on('close', () => {
        this.closed = true;
        this.onData('');
      });
  }

  /**
   * Opens a session. Sends `before` ahead of the server's greeting, for example a PROXY header. The first call of
   * `answer` returns the greeting.
   */
  static async open(port: number, before = ''): Promise<SmtpTalk> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    if (before !== '') socket.write(before, 'latin1');
    return new SmtpTalk(socket);
  }

  /** Opens a session as `open` does, reads the greeting and sends EHLO. */
  static async greeted(port: number, before = ''): Promise<SmtpTalk> {
    const talk = await SmtpTalk.open(port, before);
    await talk.answer();
    await talk.say('EHLO client.example');
    return talk;
  }

  /** Returns the next complete reply, or `closed` once the server has closed the connection. */
  async answer(): Promise<string> {
    for (;;) {
      const match = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(this.text);
      if (match) {
        this.text = this.text.slice(match[0].length);
        return match[0].trimEnd();
      }
      if (this.closed) return 'closed';
      await new Promise<void>((resolve) => this.wake.add(resolve));
    }
  }

  /** Sends one line and returns the reply. */
  say(line: string): Promise<string> {
    this.write(`${line}\r\n`);
    return this.answer();
  }

  write(text: string | Buffer): void {
    if (typeof text === 'string') this.socket.write(text, 'latin1');
    else this.socket.write(text);
  }

  /** Runs a whole transaction and returns the reply to the last command. */
  async send(to: string | readonly string[], message: string, from = 'sender@example.org'): Promise<string> {
    const first = await this.say(`MAIL FROM:<${from}>`);
    if (!first.startsWith('250')) return first;
    let last = '';
    for (const each of [to].flat()) last = await this.say(`RCPT TO:<${each}>`);
    const go = await this.say('DATA');
    if (!go.startsWith('354')) return last.startsWith('250') ? go : last;
    this.write(`${message.replace(/^\./gm, '..')}\r\n.\r\n`);
    return this.answer();
  }

  close(): void {
    this.socket.destroy();
  }

  private onData(chunk: string): void {
    this.text += chunk;
    for (const resolve of this.wake) resolve();
    this.wake.clear();
  }
}

/** Sends one message over a new connection, and returns the reply to the last command. */
export async function sendMail(
  port: number,
  to: string | readonly string[],
  message: string,
  from?: string,
): Promise<string> {
  const talk = await SmtpTalk.greeted(port);
  try {
    return await talk.send(to, message, from);
  } finally {
    talk.close();
  }
}

let made = 0;

/** Returns a unique message. */
export function mailText(subject = 'Hello', fields: readonly string[] = ['From: Anna <anna@example.org>']): string {
  made += 1;
  return [
    ...fields,
    `Subject: ${subject}`,
    `Message-ID: <${made}.${process.pid}@example.org>`,
    '',
    `Body ${made}`,
  ].join('\r\n');
}

/** Creates a unique alias and returns the API's answer. */
export async function createAlias(
  server: PosthornServer,
  fields: object = {},
): Promise<{ id: string; address: string; localPart: string }> {
  made += 1;
  const body = { kind: 'platform', localPart: `a${made}`, ...fields };
  return expectStatus(await server.api('POST', '/v1/aliases', body), 201).json as {
    id: string;
    address: string;
    localPart: string;
  };
}

/**
 * Returns the reply to RCPT in a new session. If the server rejects MAIL, returns the reply to MAIL instead. The reply
 * can be up to five seconds out of date, because the server has caches.
 */
export async function rcpt(port: number, address: string, mail = 'MAIL FROM:<sender@example.org>'): Promise<string> {
  const talk = await SmtpTalk.greeted(port);
  try {
    const first = await talk.say(mail);
    return first.startsWith('250') ? await talk.say(`RCPT TO:<${address}>`) : first;
  } finally {
    talk.close();
  }
}
