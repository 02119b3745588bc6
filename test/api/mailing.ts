import { createTransport } from 'nodemailer';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import { expectStatus, WITHIN_MS } from './scene.js';

let labels = 0;

/** Creates a platform alias that no other test uses, and returns its id and address. */
export async function aliasTo(
  server: PosthornServer,
  destinationIds: readonly string[],
  settings: object = {},
): Promise<{ id: string; address: string }> {
  const body = { kind: 'platform', localPart: `box-${(labels += 1)}`, destinationIds, ...settings };
  return expectStatus(await server.api('POST', '/v1/aliases', body), 201).json as { id: string; address: string };
}

/** Sends bytes to the SMTP listener as a mail server does. Rejects with the listener's reply if it is an error. */
export async function deliver(
  port: number,
  to: string | string[],
  raw: string | Buffer,
  from = 'ada@b.example',
): Promise<string> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    secure: false,
    ignoreTLS: true,
    name: 'mail.b.example',
  });
  const { response } = await transport.sendMail({ envelope: { from, to }, raw });
  transport.close();
  return response;
}

/** Returns a small email message. */
export const letter = (subject: string, headers = ''): string =>
  `From: Ada <ada@b.example>\r\nTo: you@in.example\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@b.example>\r\n${headers}\r\nWhere is it?\r\n`;

/** Waits until the given number of messages to the alias have been parsed. Returns them, newest first. */
export async function messagesOf(server: PosthornServer, alias: string, count: number): Promise<ApiAnswer['json'][]> {
  const list = async (): Promise<ApiAnswer['json'][]> =>
    (
      expectStatus(await server.api('GET', `/v1/aliases/${alias}/messages`), 200).json.data as ApiAnswer['json'][]
    ).filter(({ state }) => state !== 'received');
  return until(list, (messages) => messages.length >= count, WITHIN_MS);
}

export async function messageOf(server: PosthornServer, alias: string, id: string): Promise<ApiAnswer['json']> {
  return expectStatus(await server.api('GET', `/v1/aliases/${alias}/messages/${id}`), 200).json;
}
