import { Buffer } from 'node:buffer';
import type { BatchResultErrorEntry } from '@aws-sdk/client-sqs';
import { ExchangeFailed } from '#egress/aws-sdk.js';
import { excerptOf } from '#engine/excerpt.js';
import type { Answer, Outcome } from '#engine/outcome.js';
import type { QueueSettings } from './settings.js';

export interface QueueFault {
  answer: Answer;
  /** Code and message from SQS or from Posthorn, without credentials. */
  detail: string;
  /** True if authentication failed. */
  isCredentials: boolean;
  /** True if a single invalid entry may have failed the whole batch. */
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
/** `InvalidParameterValue` has many causes. These messages concern size or content, which a retry cannot fix. */
const ABOUT_PAYLOAD = /shorter than|too (?:long|large)|invalid (?:binary )?character|longer than/i;
const ENTRY_CODES: ReadonlySet<string> = new Set([
  'InvalidParameterValue',
  'InvalidParameterValueException',
  'InvalidAttributeValue',
  'InvalidAttributeName',
]);

export function requestFault(error: unknown, credentials: QueueSettings['credentials']): QueueFault {
  if (error instanceof ExchangeFailed)
    return {
      answer: { kind: 'error', error: error.failure },
      detail: error.message,
      isCredentials: false,
      isOfAnEntry: false,
    };
  const { name, message, status } = sdkError(error);
  // The SDK reports an error although the status is a success, so the response does not come from SQS.
  if (status === null || status < 300) {
    const detail =
      status === null
        ? `The request could not be sent (${name}).`
        : `Status ${status}, but not the response of an SQS queue.`;
    return {
      answer: { kind: 'error', error: 'protocol' },
      detail: scrubbed(detail, credentials),
      isCredentials: false,
      isOfAnEntry: false,
    };
  }
  return faultOf(shortCode(name), message, status, credentials);
}

export function entryFault(
  { Code = 'Unknown', Message = '', SenderFault }: Partial<BatchResultErrorEntry>,
  credentials: QueueSettings['credentials'],
): QueueFault {
  // The batch itself had status 200. Uses the status that the entry would have received if it had been sent alone.
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

/** Returns how the delivery ended. Never `gone`: a deleted queue can be created again with the same URL. */
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
  // Whether the body is not JSON. The message of the JSON parser would not help the user.
  const isUnreadable = $response !== undefined && (error.name === 'SyntaxError' || error.name === 'UnknownError');
  return isUnreadable
    ? { name: `Status ${status}`, message: 'The response does not come from SQS.', status }
    : { name: error.name, message: error.message, status };
}

/** Strips the prefix of the code: `AWS.SimpleQueueService.NonExistentQueue`, `com.amazonaws.sqs#QueueDoesNotExist`. */
function shortCode(code: string): string {
  return code.slice(code.lastIndexOf('#') + 1).replace(/^AWS\.SimpleQueueService\./, '');
}

/** Returns the text without the credentials, because a server may echo the request in its error. */
function scrubbed(text: string, credentials: QueueSettings['credentials']): string {
  let clean = text;
  for (const value of Object.values(credentials))
    if (value !== undefined && value !== '') clean = clean.replaceAll(value, '***');
  return excerptOf(Buffer.from(clean));
}
