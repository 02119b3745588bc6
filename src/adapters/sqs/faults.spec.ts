import { ExchangeFailed } from '#egress/aws-sdk.js';
import { entryFault, requestFault } from './faults.js';

const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG',
  sessionToken: 'IQoJb3JpZ2lu',
};

const sdkError = (name: string, status: number | undefined, message = 'Told by SQS.'): Error =>
  Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status } });

describe('requestFault', () => {
  // Each case has an error name and a status from the SQS API reference or its section "Common errors".
  it.each<[string, number, string, string, boolean]>([
    ['InvalidClientTokenId', 403, 'The security token included in the request is invalid.', 'failed', true],
    [
      'SignatureDoesNotMatch',
      403,
      'The request signature we calculated does not match the signature you provided.',
      'failed',
      true,
    ],
    ['InvalidSignatureException', 403, 'Credential should be scoped to a valid region.', 'failed', true],
    ['AccessDenied', 403, 'User: arn:aws:iam::1:user/a is not authorized to perform: sqs:sendmessage', 'failed', true],
    ['AccessDeniedException', 400, 'User is not authorized', 'failed', true],
    ['ExpiredToken', 403, 'The security token included in the request is expired', 'failed', true],
    ['UnrecognizedClientException', 400, '', 'failed', true],
    ['InvalidSecurity', 403, 'The request was not made over HTTPS.', 'failed', true],
    ['QueueDoesNotExist', 400, 'The specified queue does not exist.', 'failed', false],
    ['AWS.SimpleQueueService.NonExistentQueue', 400, '', 'failed', false],
    ['RequestThrottled', 400, '', 'throttled', false],
    ['com.amazonaws.sqs#RequestThrottled', 400, '', 'throttled', false],
    ['ThrottlingException', 400, 'Rate exceeded', 'throttled', false],
    ['OverLimit', 403, '', 'throttled', true],
    ['KmsThrottled', 400, '', 'throttled', false],
    ['ServiceUnavailable', 503, '', 'throttled', false],
    ['InternalFailure', 500, '', 'failed', false],
    ['InvalidMessageContents', 400, 'The message contains characters outside the allowed set.', 'refused', false],
    ['BatchRequestTooLong', 400, 'Batch requests cannot be longer than 262144 bytes.', 'refused', false],
    [
      'InvalidParameterValue',
      400,
      'One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.',
      'refused',
      false,
    ],
    ['InvalidParameterValue', 400, 'The queue should either have ContentBasedDeduplication enabled', 'failed', false],
    ['MissingParameter', 400, 'The request must contain the parameter MessageGroupId.', 'failed', false],
    ['KmsDisabled', 400, '', 'failed', false],
    ['Gone', 410, '', 'failed', false],
  ])('%s with %i (%j) is %s, about the credentials: %s', (name, status, message, outcome, isCredentials) => {
    expect(requestFault(sdkError(name, status, message), CREDENTIALS)).toMatchObject({
      answer: { kind: 'response', status, outcome },
      isCredentials,
    });
  });

  it.each(['timeout', 'dns', 'connection', 'tls', 'blocked', 'protocol'] as const)(
    'reports a failed exchange with its stage: %s',
    (failure) => {
      expect(requestFault(new ExchangeFailed(failure, 'It broke.'), CREDENTIALS)).toMatchObject({
        answer: { kind: 'error', error: failure },
        detail: 'It broke.',
      });
    },
  );

  it.each<[string, unknown]>([
    ['an error despite a success status', sdkError('SyntaxError', 200, 'Unexpected token < in JSON')],
    ['an error of the SDK', new TypeError('x is not a function')],
    ['a value that is not an error', 'text'],
  ])('%s counts as a protocol error, and its message is not shown', (_title, error) => {
    const fault = requestFault(error, CREDENTIALS);

    expect(fault.answer).toEqual({ kind: 'error', error: 'protocol' });
    expect(fault.detail).not.toMatch(/Unexpected|function/);
  });

  it('masks credentials that a server echoes, and returns at most 1 KB', () => {
    const { detail } = requestFault(
      sdkError('Odd', 400, `${Object.values(CREDENTIALS).join(' ')} ${'x'.repeat(5000)}`),
      CREDENTIALS,
    );

    for (const value of Object.values(CREDENTIALS)) expect(detail).not.toContain(value);
    expect(detail).toContain('*** *** ***');
    expect(Buffer.byteLength(detail)).toBeLessThanOrEqual(1024);
  });
});

describe('entryFault', () => {
  it.each<[string, boolean | undefined, string, number, string]>([
    ['InternalError', false, '', 500, 'failed'],
    ['AWS.SimpleQueueService.InternalError', undefined, '', 500, 'failed'],
    ['InvalidMessageContents', true, '', 400, 'refused'],
    ['InvalidParameterValue', true, 'Message must be shorter than 1024 bytes.', 400, 'refused'],
    ['InvalidParameterValue', true, 'MessageGroupId', 400, 'failed'],
    ['RequestThrottled', true, '', 400, 'throttled'],
    ['KMS.ThrottlingException', false, '', 500, 'throttled'],
    ['AccessDenied', true, '', 400, 'failed'],
  ])("%s, the sender's fault: %s, %j, is status %i and %s", (Code, SenderFault, Message, status, outcome) => {
    expect(entryFault({ Id: '0', Code, SenderFault, Message }, CREDENTIALS).answer).toEqual({
      kind: 'response',
      status,
      retryAfter: null,
      outcome,
    });
  });

  it('an entry without code and message is a failure', () => {
    expect(entryFault({}, CREDENTIALS)).toMatchObject({
      answer: { status: 500, outcome: 'failed' },
      detail: 'Unknown.',
    });
  });
});
