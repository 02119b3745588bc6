import { Buffer } from 'node:buffer';
import type { BatchResultErrorEntry } from '@aws-sdk/client-sqs';
import { ExchangeFailed } from '#egress/aws-sdk.js';
import { excerptOf } from '#engine/excerpt.js';
import type { Answer, Outcome } from '#engine/outcome.js';
import type { QueueSettings } from './settings.js';

/** What went wrong with a request or with one entry of a batch. */
export interface QueueFault {
  answer: Answer;
  /** The code and the sentence of SQS, or our own, without credentials. */
  detail: string;
  /** True when signing in failed. */
  isCredentials: boolean;
  /** True when one bad entry may have failed all of its batch. */
  isOfAnEntry: boolean;
}

const CREDENTIAL_CODES: ReadonlySet<string> = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'AuthFailure',
  'ExpiredToken',
  'ExpiredTokenException',
  'IncompleteSignature',
  'InvalidAccessKeyId',
  'InvalidClientTokenId',
  'InvalidSecurity',
  'InvalidSignature',
  'InvalidSignatureException',
  'InvalidToken',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'NotAuthorized',
  'OptInRequired',
  'RequestExpired',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
]);
const THROTTLE_CODES: ReadonlySet<string> = new Set([
  'BandwidthLimitExceeded',
  'KmsThrottled',
  'KMS.ThrottlingException',
  'OverLimit',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'ServiceUnavailable',
  'SlowDown',
  'Throttling',
  'ThrottledException',
  'ThrottlingException',
  'TooManyRequestsException',
]);
const THROTTLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const REFUSAL_CODES: ReadonlySet<string> = new Set(['BatchRequestTooLong', 'InvalidMessageContents', 'MessageTooLong']);
/** `InvalidParameterValue` says many things; these are about the payload, which no retry makes shorter. */
const ABOUT_PAYLOAD = /shorter than|too (?:long|large)|invalid (?:binary )?character|longer than/i;
const ENTRY_CODES: ReadonlySet<string> = new Set([
  'InvalidParameterValue',
  'InvalidParameterValueException',
  'InvalidAttributeValue',
  'InvalidAttributeName',
]);

/** What a request failed with: an error of the SDK, of SQS, or of the exchange. */
export function requestFault(error: unknown, credentials: QueueSettings['credentials']): QueueFault {
  if (error instanceof ExchangeFailed)
    return {
      answer: { kind: 'error', error: error.failure },
      detail: error.message,
      isCredentials: false,
      isOfAnEntry: false,
    };
  const { name, message, status } = sdkError(error);
  // An error in the answer of a success: not what SQS says.
  if (status === null || status < 300) {
    const detail =
      status === null
        ? `The request could not be made (${name}).`
        : `Status ${status}, but not the answer of an SQS queue.`;
    return {
      answer: { kind: 'error', error: 'protocol' },
      detail: scrubbed(detail, credentials),
      isCredentials: false,
      isOfAnEntry: false,
    };
  }
  return faultOf(shortCode(name), message, status, credentials);
}

/** What one entry of a batch failed with, while its batch did not. */
export function entryFault(
  { Code = 'Unknown', Message = '', SenderFault }: Partial<BatchResultErrorEntry>,
  credentials: QueueSettings['credentials'],
): QueueFault {
  // The batch was answered with 200; this is the status that the entry alone would have got.
  return faultOf(shortCode(Code), Message, SenderFault === true ? 400 : 500, credentials);
}

function faultOf(code: string, message: string, status: number, credentials: QueueSettings['credentials']): QueueFault {
  const isCredentials = CREDENTIAL_CODES.has(code) || status === 401 || status === 403;
  const outcome = outcomeOf(code, message, status);
  return {
    answer: { kind: 'response', status, retryAfter: null, outcome },
    detail: scrubbed(message === '' ? `${code}.` : `${code}: ${message}`, credentials),
    isCredentials,
    isOfAnEntry: outcome === 'refused' || ENTRY_CODES.has(code),
  };
}

/** Never `gone`: a queue that was deleted may be made again, under the same URL. */
function outcomeOf(code: string, message: string, status: number): Outcome {
  if (THROTTLE_CODES.has(code) || THROTTLE_STATUSES.has(status)) return 'throttled';
  if (REFUSAL_CODES.has(code) || (ENTRY_CODES.has(code) && ABOUT_PAYLOAD.test(message))) return 'refused';
  return 'failed';
}

function sdkError(error: unknown): { name: string; message: string; status: number | null } {
  if (!(error instanceof Error)) return { name: 'Unknown', message: '', status: null };
  const { $metadata, $response } = error as {
    $metadata?: { httpStatusCode?: number };
    $response?: { statusCode?: number };
  };
  const status = $metadata?.httpStatusCode ?? $response?.statusCode ?? null;
  // A body that is no JSON: its parser's words say nothing to anybody.
  const isUnreadable = $response !== undefined && (error.name === 'SyntaxError' || error.name === 'UnknownError');
  return isUnreadable
    ? { name: `Status ${status}`, message: 'The answer is not one of SQS.', status }
    : { name: error.name, message: error.message, status };
}

/** `AWS.SimpleQueueService.NonExistentQueue` and `com.amazonaws.sqs#QueueDoesNotExist` without where they come from. */
function shortCode(code: string): string {
  return code.slice(code.lastIndexOf('#') + 1).replace(/^AWS\.SimpleQueueService\./, '');
}

/** A server may send back what it was sent. */
function scrubbed(text: string, credentials: QueueSettings['credentials']): string {
  let clean = text;
  for (const value of Object.values(credentials))
    if (value !== undefined && value !== '') clean = clean.replaceAll(value, '***');
  return excerptOf(Buffer.from(clean));
}
