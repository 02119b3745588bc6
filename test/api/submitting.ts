import { createTransport } from 'nodemailer';
import type { PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import { SmtpTalk } from './smtp-client.js';

/** Returns the port for submission, which the server logs shortly after it listens. Requires LOG_LEVEL info. */
export async function submissionPortOf(
  server: PosthornServer,
  how: 'without STARTTLS' | 'with STARTTLS' | 'with TLS',
): Promise<number> {
  const line = new RegExp(`Submission of emails at \\S+, port (\\d+), ${how}`);
  await until(
    async () => server.logs(),
    (logs) => line.test(logs),
  );
  const port = line.exec(server.logs())?.[1];
  if (port === undefined) throw new Error(`The server names no such port. It wrote:\n${server.logs()}`);
  return Number(port);
}

/** Returns the argument of AUTH PLAIN. */
export const plain = (password: string, user = 'any'): string =>
  Buffer.from(`\0${user}\0${password}`).toString('base64');

/** Opens an unencrypted session from this machine, logs in, and returns the session. */
export async function loggedIn(port: number, key: string): Promise<SmtpTalk> {
  const talk = await SmtpTalk.greeted(port);
  const answer = await talk.say(`AUTH PLAIN ${plain(key)}`);
  if (!answer.startsWith('235 2.7.0 ')) throw new Error(answer);
  return talk;
}

/** Submits one message over a new session. Returns the reply to the last command. */
export async function submit(
  port: number,
  key: string,
  to: string | readonly string[],
  message: string,
  from?: string,
): Promise<string> {
  const talk = await loggedIn(port, key);
  try {
    return await talk.send(to, message, from);
  } finally {
    talk.close();
  }
}

export function mailerOf(port: number, key: string, options: object = {}): ReturnType<typeof createTransport> {
  return createTransport({
    host: '127.0.0.1',
    port,
    requireTLS: true,
    tls: { rejectUnauthorized: false },
    auth: { user: 'posthorn', pass: key },
    ...options,
  });
}

/** Returns the email's id from a reply of 250. */
export function idIn(answer: string): string {
  const id = /^250 2\.0\.0 (evt_[0-9A-Z]{26})$/.exec(answer)?.[1];
  if (id === undefined) throw new Error(answer);
  return id;
}
