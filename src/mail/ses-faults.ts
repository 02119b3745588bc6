import { Buffer } from 'node:buffer';
import { ExchangeFailed } from '#egress/aws-sdk.js';
import { excerptOf } from '#engine/excerpt.js';
import type { AwsCredentials } from '#kernel/config/aws-credentials.js';
import type { RecipientReply, SubmissionReport } from '#modules/email/transport.contract.js';

/** Errors that concern the account or its credentials. Until the operator fixes them, SES accepts no messages. */
const BROKEN: ReadonlySet<string> = new Set([
  'AccessDeniedException',
  'AccountSuspendedException',
  'ExpiredTokenException',
  'IncompleteSignature',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'NotFoundException',
  'OptInRequired',
  'RequestExpired',
  'SendingPausedException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
]);
const THROTTLES: ReadonlySet<string> = new Set([
  'LimitExceededException',
  'RequestThrottled',
  'ServiceUnavailable',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]);
/**
 * Errors about an identity or MAIL FROM that SES has not verified. The operator can fix them, and the message is valid.
 */
const MENDABLE = /not verified|not have authority|sandbox/i;
/** Pattern and retry delay for a daily quota, which resets much later than a quota per second. */
const OF_A_DAY = /daily/i;
const DAY_AGAIN_MS = 3_600_000;
const RATE_AGAIN_MS = 10_000;

/** Failures that occur before any part of the message is sent. */
const NOT_SENT: ReadonlySet<string> = new Set(['blocked', 'dns', 'connection', 'tls']);

/** Returns the report of an SES error. It has the same result for every recipient: SES accepts all or none. */
export function readSesFailure(
  recipients: readonly string[],
  error: unknown,
  credentials: AwsCredentials,
): SubmissionReport {
  if (error instanceof ExchangeFailed)
    return reportForAll(recipients, 'deferred', 0, error.message, {
      isUnreachable: NOT_SENT.has(error.failure),
      retryAfterMs: null,
    });
  const { name, message, status } = answered(error);
  const text = scrubbed(message === '' ? `${name}.` : `${name}: ${message}`, credentials);
  if (THROTTLES.has(name) || status === 429) {
    return reportForAll(recipients, 'deferred', status, text, {
      isUnreachable: false,
      retryAfterMs: OF_A_DAY.test(message) ? DAY_AGAIN_MS : RATE_AGAIN_MS,
    });
  }
  if (BROKEN.has(name) || status === 401 || status === 403)
    return reportForAll(recipients, 'deferred', status, text, { isUnreachable: true, retryAfterMs: null });
  const isRefused =
    status >= 400 && status < 500 && !MENDABLE.test(message) && name !== 'MailFromDomainNotVerifiedException';
  return reportForAll(recipients, isRefused ? 'failed' : 'deferred', status, text, {
    isUnreachable: false,
    retryAfterMs: null,
  });
}

export function reportForAll(
  recipients: readonly string[],
  outcome: RecipientReply['outcome'],
  code: number,
  text: string,
  about: Pick<SubmissionReport, 'isUnreachable' | 'retryAfterMs'>,
): SubmissionReport {
  return {
    ...about,
    isFinal: true,
    replies: recipients.map((address) => ({ address, outcome, code, enhanced: null, text })),
  };
}

function answered(error: unknown): { name: string; message: string; status: number } {
  if (!(error instanceof Error)) return { name: 'Unknown', message: '', status: 0 };
  const { $metadata, $response } = error as {
    $metadata?: { httpStatusCode?: number };
    $response?: { statusCode?: number };
  };
  const status = $metadata?.httpStatusCode ?? $response?.statusCode ?? 0;
  // Not an error of SES: the response was successful but not readable, or its body is not JSON. The message of the
  // parser would not explain this.
  if (status < 300 || error.name === 'SyntaxError')
    return {
      name: status === 0 ? `The request could not be made (${error.name})` : `Status ${status}`,
      message: 'the answer is not one of SES',
      status: status < 300 ? 0 : status,
    };
  return { name: error.name, message: error.message, status };
}

/** Returns a text without credentials, because a server may echo the credentials that it received. */
function scrubbed(text: string, credentials: AwsCredentials): string {
  let clean = text;
  for (const value of Object.values(credentials) as string[]) clean = clean.replaceAll(value, '***');
  return excerptOf(Buffer.from(clean));
}
