import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { agentWith, cleanUp, receiverWith } from '../../../test/support/egress.js';
import { queueClient } from './client.js';

const OF_THE_SDK = /^(_X_|AWS_|HOME|USERPROFILE|HTTPS?_PROXY)/i;
/**
 * Environment variables that the SDK may read: one controls a warning about old Node.js versions, the other an unused
 * default.
 */
const HARMLESS = ['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED', 'AWS_ENABLE_DEFAULT_SOCKET_TIMEOUT_2026'];

const MISLEADING = {
  AWS_ACCESS_KEY_ID: 'WRONG',
  AWS_SECRET_ACCESS_KEY: 'WRONG',
  AWS_SESSION_TOKEN: 'WRONG',
  AWS_REGION: 'wrong-1',
  AWS_PROFILE: 'nobody',
  AWS_CONFIG_FILE: '/dev/full',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1',
  AWS_MAX_ATTEMPTS: '5',
  AWS_EXECUTION_ENV: 'WRONG',
  AWS_LAMBDA_FUNCTION_NAME: 'WRONG',
  _X_AMZN_TRACE_ID: 'WRONG',
  HTTP_PROXY: 'http://127.0.0.1:1',
};

// This test has its own file, because the SDK caches the settings that it has looked up.
describe('queueClient', () => {
  const before = process.env;

  afterEach(async () => {
    process.env = before;
    await cleanUp();
  });

  it('reads neither environment variables nor configuration files, and makes one attempt', async () => {
    const asked = new Set<string>();
    process.env = new Proxy(
      { ...before, ...MISLEADING },
      { get: (env, name: string) => (asked.add(name), Reflect.get(env, name) as unknown) },
    );
    const receiver = await receiverWith((socket) => socket.write('HTTP/1.1 500 Told\r\ncontent-length: 2\r\n\r\n{}'));
    const endpoint = `http://127.0.0.1:${receiver.port}`;
    const credentials = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' };

    const { client } = await queueClient({ endpoint, region: 'eu-west-1', credentials }, agentWith());
    await expect(client.send(new GetQueueAttributesCommand({ QueueUrl: `${endpoint}/1/q` }))).rejects.toThrow();

    const [{ text = '' } = {}] = receiver.requests;
    expect(receiver.requests).toHaveLength(1);
    expect(text).toMatch(
      /authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-west-1\/sqs\/aws4_request/,
    );
    expect(text).toMatch(/user-agent: Posthorn\/0\.1/);
    expect(text).not.toMatch(/WRONG|x-amz-security-token|aws-sdk-js/);
    expect([...asked].filter((name) => OF_THE_SDK.test(name) && !HARMLESS.includes(name))).toEqual([]);
    // Proves that the proxy of `process.env` records reads. Otherwise, the assertion above would prove nothing.
    expect([...asked]).toEqual(expect.arrayContaining(HARMLESS.slice(0, 1)));
  });
});
