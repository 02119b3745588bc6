import { isAscii } from 'node:buffer';
import SMTPConnection, { type Options as ConnectionOptions } from 'nodemailer/lib/smtp-connection';
import type { Dialer } from '#egress/dialer.js';
import { isInternational } from '#engine/mail/addresses.js';
import type { Submission, SubmissionReport } from '#modules/email/transport.contract.js';
import type { SmtpAnswers } from './smtp-answers.js';

/** A connection that the dialer opened. */
export type MailConnection = Awaited<ReturnType<Dialer['open']>>;

/** An open connection to the mail server, and the settings for it. */
export interface SmtpUtf8Host {
  /** Name of the server, for the text of a refusal. */
  host: string;
  options: ConnectionOptions;
  connection: MailConnection;
  login: { user: string; password: string } | null;
}

/** Members of nodemailer's connection that its types omit. The tests of this file fail if an upgrade changes them. */
interface InternalMembers {
  _supportedExtensions: readonly string[];
  _sendCommand(command: string, logged?: string): void;
}

/** Thrown before the message is sent: the server does not offer SMTPUTF8. */
export class NoSmtpUtf8 extends Error {}

const HEADER_END = '\r\n\r\n';

/** Returns whether any recipient or the header has characters outside ASCII. Such messages need SMTPUTF8 (RFC 6531). */
export function needsSmtpUtf8({ raw, recipients }: Pick<Submission, 'raw' | 'recipients'>): boolean {
  const end = raw.indexOf(HEADER_END);
  return recipients.some(isInternational) || !isAscii(end < 0 ? raw : raw.subarray(0, end));
}

/**
 * Sends a message with SMTPUTF8, over a separate connection. nodemailer's transports are unsuitable: they request
 * SMTPUTF8 only if an address of the envelope needs it, and they also send to servers that do not offer it. Throws
 * `NoSmtpUtf8`, and nodemailer's errors.
 */
export async function sendWithSmtpUtf8(
  host: SmtpUtf8Host,
  { raw, from, recipients }: { raw: Buffer; from: string; recipients: readonly string[] },
  signal: AbortSignal,
): Promise<SmtpAnswers> {
  return withConnection(host, signal, async (connection) => {
    if (!connection._supportedExtensions.includes('SMTPUTF8')) throw new NoSmtpUtf8();
    const send = connection._sendCommand.bind(connection);
    connection._sendCommand = (command, logged) => send(withKeyword(command), logged);
    return called<SmtpAnswers>((done) =>
      connection.send(
        { from: from === '' ? false : from, to: [...recipients], use8BitMime: true, size: raw.length },
        raw,
        done,
      ),
    );
  });
}

/** Returns whether the server offers SMTPUTF8. Throws nodemailer's errors. */
export async function offersSmtpUtf8(host: SmtpUtf8Host, signal: AbortSignal): Promise<boolean> {
  return withConnection(host, signal, (connection) =>
    Promise.resolve(connection._supportedExtensions.includes('SMTPUTF8')),
  );
}

/** Returns the permanent refusal of all recipients of a message whose server does not offer SMTPUTF8. */
export function refusedWithoutSmtpUtf8(recipients: readonly string[], host: string): SubmissionReport {
  const text = (address: string): string =>
    isInternational(address)
      ? `The address has characters outside ASCII, and the mail server ${host} does not offer SMTPUTF8.`
      : `Another address or a header field of the message has characters outside ASCII, and the mail server ${host} does not offer SMTPUTF8.`;
  return {
    replies: recipients.map((address) => ({
      address,
      outcome: 'failed',
      code: 550,
      enhanced: '5.6.7',
      text: `550 5.6.7 ${text(address)}`,
    })),
    isUnreachable: false,
    isFinal: true,
    retryAfterMs: null,
  };
}

const withKeyword = (command: string): string =>
  command.startsWith('MAIL FROM:') && !command.includes('> SMTPUTF8') ? `${command} SMTPUTF8` : command;

async function withConnection<R>(
  { options, connection: socket, login }: SmtpUtf8Host,
  signal: AbortSignal,
  use: (connection: SMTPConnection & InternalMembers) => Promise<R>,
): Promise<R> {
  const connection = new SMTPConnection({ ...options, connection: socket }) as SMTPConnection & InternalMembers;
  const ended = new Promise<never>((_, reject) => {
    connection.on('error', reject);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([ended, used(connection, login, use)]);
  } finally {
    connection.close();
    // `close` leaves the socket open if `connect` was not called.
    if (signal.aborted) socket.destroy();
  }
}

async function used<R>(
  connection: SMTPConnection & InternalMembers,
  login: SmtpUtf8Host['login'],
  use: (connection: SMTPConnection & InternalMembers) => Promise<R>,
): Promise<R> {
  await called<undefined>((done) => connection.connect((error) => done(error ?? null, undefined)));
  if (login !== null && connection.allowsAuth)
    await called<unknown>((done) => connection.login({ user: login.user, pass: login.password }, done));
  return use(connection);
}

/** Converts a callback to a promise. */
function called<T>(run: (done: (error: Error | null, result?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => run((error, result) => (error ? reject(error) : resolve(result as T))));
}
