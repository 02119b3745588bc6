import { agentWith, cleanUp, receiverWith } from '../../test/support/egress.js';
import { SesTransport } from './ses.js';

const RAW = Buffer.from('Subject: x\r\n\r\nGr\xfc\xdfe\r\n', 'latin1');
const SUBMISSION = {
  emailId: 'evt_1',
  raw: RAW,
  mailFrom: () => 'bounce@example.com',
  recipients: ['b@example.org', 'c@example.org'],
};
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI', sessionToken: 'temporary' };
const WRONG = {
  AWS_ACCESS_KEY_ID: 'WRONG',
  AWS_SESSION_TOKEN: 'WRONG',
  AWS_REGION: 'wrong-1',
  AWS_PROFILE: 'nobody',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  AWS_LAMBDA_FUNCTION_NAME: 'WRONG',
  _X_AMZN_TRACE_ID: 'WRONG',
};

afterEach(cleanUp);

async function answering(
  status: number,
  body: object | string,
  options: { configurationSet?: string; closes?: boolean } = {},
): Promise<{ transport: SesTransport; requests: { text?: string }[] }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type =
    'x-amzn-errortype' in Object(body)
      ? `x-amzn-errortype: ${(body as Record<string, string>)['x-amzn-errortype']}\r\n`
      : '';
  const receiver = await receiverWith((socket) =>
    options.closes
      ? socket.destroy()
      : socket.write(
          `HTTP/1.1 ${status} Told\r\n${type}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
        ),
  );
  const transport = new SesTransport(
    {
      kind: 'ses',
      region: 'eu-west-1',
      endpoint: `http://127.0.0.1:${receiver.port}`,
      configurationSet: options.configurationSet ?? null,
      credentials,
    },
    agentWith(),
  );
  return { transport, requests: receiver.requests };
}

describe('ses:', () => {
  it('sends the exact bytes to the open recipients, signed only with the given credentials', async () => {
    const before = process.env;
    process.env = { ...before, ...WRONG };
    const { transport, requests } = await answering(200, { MessageId: '0100-abc' }, { configurationSet: 'posthorn' });

    const report = await transport.submit(SUBMISSION).finally(() => (process.env = before));

    expect(report).toMatchObject({
      isFinal: false,
      isUnreachable: false,
      providerMessageId: '0100-abc',
      replies: [
        { address: 'b@example.org', outcome: 'accepted', code: 200 },
        { address: 'c@example.org', outcome: 'accepted' },
      ],
    });
    const [head = '', body = ''] = (requests[0]?.text ?? '').split('\r\n\r\n');
    expect(head).toMatch(/^POST \/v2\/email\/outbound-emails HTTP/);
    expect(head).toMatch(/authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/ses\/aws4_request/);
    expect(head).toMatch(/x-amz-security-token: temporary/);
    expect(head).not.toMatch(/WRONG/);
    expect(JSON.parse(body)).toEqual({
      Destination: { ToAddresses: SUBMISSION.recipients },
      Content: { Raw: { Data: RAW.toString('base64') } },
      ConfigurationSetName: 'posthorn',
      EmailTags: [{ Name: 'posthorn_email', Value: 'evt_1' }],
    });
    expect(transport.rewritesIdentity).toBe(true);
  });

  it('counts an accepted message as delivered if no configuration set reports further events', async () => {
    const { transport } = await answering(200, { MessageId: '0100-abc' });

    expect(await transport.submit(SUBMISSION)).toMatchObject({ isFinal: true });
  });

  it.each<[string, number, string, string, object, boolean, number | null]>([
    [
      'a rejected message',
      400,
      'MessageRejected',
      'The message contains a virus.',
      { outcome: 'failed', code: 400 },
      false,
      null,
    ],
    ['a malformed message', 400, 'BadRequestException', 'Illegal header', { outcome: 'failed' }, false, null],
    [
      'a sender that SES has not verified',
      400,
      'MessageRejected',
      'Email address is not verified.',
      { outcome: 'deferred', code: 400 },
      false,
      null,
    ],
    [
      'a rate',
      429,
      'TooManyRequestsException',
      'Maximum sending rate exceeded.',
      { outcome: 'deferred', code: 429 },
      false,
      10_000,
    ],
    [
      'a daily quota',
      400,
      'LimitExceededException',
      'Daily message quota exceeded.',
      { outcome: 'deferred' },
      false,
      3_600_000,
    ],
    ['a paused account', 400, 'SendingPausedException', 'Paused.', { outcome: 'deferred' }, true, null],
    [
      'unknown credentials',
      403,
      'UnrecognizedClientException',
      'The security token AKIDEXAMPLE is invalid.',
      { outcome: 'deferred', text: 'UnrecognizedClientException: The security token *** is invalid.' },
      true,
      null,
    ],
    ['a missing configuration set', 404, 'NotFoundException', 'No such set.', { outcome: 'deferred' }, true, null],
    ['an internal error', 500, 'InternalServiceErrorException', '', { outcome: 'deferred', code: 500 }, false, null],
  ])('reads %s', async (_what, status, name, message, reply, isUnreachable, retryAfterMs) => {
    const { transport, requests } = await answering(status, { 'x-amzn-errortype': name, message });

    const report = await transport.submit(SUBMISSION);

    expect(report).toMatchObject({
      isUnreachable,
      retryAfterMs,
      replies: [
        { address: 'b@example.org', ...reply },
        { address: 'c@example.org', ...reply },
      ],
    });
    expect(requests).toHaveLength(1);
  });

  it('defers without an answer, and with an answer that is not from SES', async () => {
    const broken = await answering(0, '', { closes: true });
    const strange = await answering(502, '<html>Bad Gateway</html>');

    expect(await broken.transport.submit(SUBMISSION)).toMatchObject({
      replies: [{ outcome: 'deferred', code: 0 }, {}],
    });
    expect(await strange.transport.submit(SUBMISSION)).toMatchObject({
      isUnreachable: false,
      replies: [{ outcome: 'deferred', code: 502 }, {}],
    });
  });

  it('reports an unreachable transport if the egress policy blocks it', async () => {
    const transport = new SesTransport(
      { kind: 'ses', region: 'eu-west-1', endpoint: 'http://169.254.169.254', configurationSet: null, credentials },
      agentWith(),
    );

    expect(await transport.submit(SUBMISSION)).toMatchObject({
      isUnreachable: true,
      replies: [{ outcome: 'deferred', code: 0 }, {}],
    });
  });
});
