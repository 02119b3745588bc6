import { DialFailed } from '#egress/dialer.js';
import { classifyReply, cleanReply, type SmtpStage, type SmtpVerdict } from '#engine/mail/smtp-reply.js';
import type { RecipientReply, SubmissionReport } from '#modules/email/transport.contract.js';

export interface SmtpAnswers {
  accepted?: readonly unknown[];
  response?: string;
  responseCode?: number;
  code?: string;
  command?: string;
  timeoutType?: string;
  /** Code of the socket's own error. nodemailer replaces it in `code`. */
  originalCode?: string;
  rejectedErrors?: readonly { recipient?: string; response?: string; responseCode?: number }[];
}

/** The submission report, and whether the server requested a lower rate. */
export interface ReadAnswers {
  report: SubmissionReport;
  isThrottled: boolean;
}

/** nodemailer errors before an SMTP session exists: no part of the message was sent. */
const BEFORE_ANY_MESSAGE = new Set(['EAUTH', 'ENOAUTH', 'ETLS', 'EDNS', 'EPROTOCOL', 'ECONFIG', 'EREQUIRETLS']);
const SETUP_TIMEOUTS = new Set(['CONNECT_TIMEOUT', 'GREETING_TIMEOUT']);
/** Message of nodemailer's pool if a connection ended before the server had accepted a byte of the message. */
const NEVER_TAKEN = /^Reached maximum number of retries after connection was closed/;

/** Message of nodemailer if the message exceeds the limit that the server offers with SIZE (RFC 1870). */
const TOO_LARGE = /^Message size larger than allowed (\d+)/;

/** nodemailer has one code for all socket errors, so failed TLS handshakes are recognized by Node's messages. */
const CERTIFICATE = /certificate|altnames/i;
const TLS = /ssl routines|\btls\b/i;

export function readResult(recipients: readonly string[], result: SmtpAnswers): ReadAnswers {
  const accepted = new Set((result.accepted ?? []).map((address) => String(address).toLowerCase()));
  return merged(
    recipients.map((address) => {
      if (accepted.has(address.toLowerCase()))
        return answer(address, 'message', result.response ?? '250', 250, accepted.size);
      return refusedAtRcpt(address, result) ?? answer(address, 'rcpt', '', 0, 1);
    }),
  );
}

export function readError(recipients: readonly string[], error: Error & SmtpAnswers): ReadAnswers {
  if (isBeforeAnyMessage(error)) {
    const stage: SmtpStage = error.code === 'EAUTH' ? 'auth' : 'connect';
    const read = merged(
      recipients.map((address) =>
        answer(address, stage, sentenceOf(error), error.responseCode ?? 0, recipients.length),
      ),
    );
    return { ...read, report: { ...read.report, isUnreachable: true } };
  }
  const [, limit] = TOO_LARGE.exec(error.message) ?? [];
  if (limit !== undefined) {
    const text = `552 5.3.4 The message is larger than the mail server accepts (${limit} bytes).`;
    return merged(recipients.map((address) => answer(address, 'mail', text, 552, recipients.length)));
  }
  const text = error.response ?? sentenceOf(error);
  const others = recipients.filter((address) => refusedAtRcpt(address, error) === null).length;
  return merged(
    recipients.map(
      (address) =>
        refusedAtRcpt(address, error) ?? answer(address, stageOf(error), text, error.responseCode ?? 0, others),
    ),
  );
}

/** Returns whether nodemailer's pool replaced the error that ended the connection. */
export function isDropped({ message }: Error): boolean {
  return NEVER_TAKEN.test(message);
}

/** Returns the report for a message that was not sent, because no connection slot became free in time. */
export function notSent(recipients: readonly string[], text: string, retryAfterMs: number): SubmissionReport {
  const replies = recipients.map((address) => ({
    address,
    outcome: 'deferred' as const,
    code: 0,
    enhanced: null,
    text,
  }));
  return { replies, isUnreachable: false, isFinal: true, retryAfterMs };
}

function refusedAtRcpt(address: string, { rejectedErrors = [] }: SmtpAnswers): Answer | null {
  const refused = rejectedErrors.find(({ recipient }) => recipient?.toLowerCase() === address.toLowerCase());
  const { response = '', responseCode = 0 } = refused ?? {};
  // nodemailer counts a 354 to RCPT as a refusal. Such a reply belongs to another command.
  return responseCode < 400 ? null : answer(address, 'rcpt', response, responseCode, 1);
}

interface Answer {
  reply: RecipientReply;
  verdict: SmtpVerdict;
}

function answer(address: string, stage: SmtpStage, text: string, code: number, recipients: number): Answer {
  const verdict = classifyReply({ stage, code, text, recipients });
  return {
    reply: { address, outcome: verdict.outcome, code, enhanced: verdict.enhanced, text: cleanReply(text) },
    verdict,
  };
}

function merged(answers: readonly Answer[]): ReadAnswers {
  const waits = answers.map(({ verdict }) => verdict.retryAfterMs ?? 0);
  const longestMs = Math.max(0, ...waits);
  return {
    report: {
      replies: answers.map(({ reply }) => reply),
      isUnreachable: answers.length > 0 && answers.every(({ verdict }) => verdict.isUnreachable),
      // The relay's reply is the last synchronous result. A later bounce may correct it.
      isFinal: true,
      retryAfterMs: longestMs === 0 ? null : longestMs,
    },
    isThrottled: answers.some(({ verdict }) => verdict.isThrottled),
  };
}

function isBeforeAnyMessage(error: Error & SmtpAnswers): boolean {
  return (
    error instanceof DialFailed ||
    BEFORE_ANY_MESSAGE.has(error.code ?? '') ||
    SETUP_TIMEOUTS.has(error.timeoutType ?? '') ||
    isDropped(error) ||
    isHandshake(error)
  );
}

const isHandshake = ({ code, message }: Error & SmtpAnswers): boolean =>
  code === 'ESOCKET' && (CERTIFICATE.test(message) || TLS.test(message));

function stageOf({ code, command }: SmtpAnswers): SmtpStage {
  if (command === 'MAIL FROM') return 'mail';
  if (command === 'RCPT TO') return 'rcpt';
  return command === 'DATA' && code === 'EENVELOPE' ? 'data' : 'message';
}

/** Returns a sentence for an error without a server reply. Omits the raw text, which may contain addresses or data. */
function sentenceOf(error: Error & SmtpAnswers): string {
  if (error instanceof DialFailed) return error.message;
  if (error.code === 'EAUTH' || error.code === 'ENOAUTH')
    return 'The mail server of EMAIL_TRANSPORT refused the login.';
  if (error.code === 'ETLS')
    return 'The connection to the mail server could not be encrypted, which EMAIL_TRANSPORT requires.';
  if (isHandshake(error))
    return CERTIFICATE.test(error.message)
      ? 'The certificate of the mail server is not one that can be trusted.'
      : 'The TLS handshake with the mail server failed.';
  if (error.code === 'EPROTOCOL') return error.response ?? 'The server that answers is no mail server.';
  if (
    error.code === 'ETIMEDOUT' ||
    error.originalCode === 'ETIMEDOUT' ||
    error.name === 'AbortError' ||
    error.name === 'TimeoutError'
  )
    return 'The mail server did not answer in time.';
  return 'The connection to the mail server ended before it answered.';
}
