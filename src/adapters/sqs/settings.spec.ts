import { checkUrl, egressPolicy } from '#engine/egress-policy.js';
import { queueSettings, settingsFaults } from './settings.js';

const POLICY = egressPolicy({ allowCidrs: [], allowHttp: false });
const QUEUE_URL = 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders';
const CONFIG = { queueUrl: QUEUE_URL, region: 'eu-west-1' };
const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

type Given = { url?: string; config?: Record<string, unknown>; credentials?: Record<string, string> | null };

const faultsOf = ({ url, config = CONFIG, credentials = CREDENTIALS }: Given): string[] =>
  settingsFaults({ url: url ?? null, config, credentials }, (url) => checkUrl(url, POLICY)).map(
    ({ path, message }) => `${path} ${message}`,
  );

describe('settingsFaults', () => {
  it.each<[string, Given]>([
    ['a queue of AWS', {}],
    ['temporary credentials', { credentials: { ...CREDENTIALS, sessionToken: 'IQoJb3JpZ2luX2VjEXAMPLE/+==' } }],
    [
      'a custom endpoint',
      {
        config: {
          ...CONFIG,
          queueUrl: 'http://localhost:4566/000000000000/orders',
          endpoint: 'https://sqs.example.com/',
        },
      },
    ],
    ['null for optional settings', { config: { ...CONFIG, endpoint: null, messageGroupId: null } }],
    [
      'a FIFO queue with one group',
      { config: { ...CONFIG, queueUrl: `${QUEUE_URL}.fifo`, messageGroupId: 'orders-of_#1' } },
    ],
  ])('finds none in %s', (_title, given) => {
    expect(faultsOf(given)).toEqual([]);
  });

  it.each<[string, Given, RegExp[]]>([
    [
      'nothing',
      { config: {}, credentials: null },
      [/^config.queueUrl is required/, /^config.region is required/, /^credentials is required/],
    ],
    ['a URL', { url: QUEUE_URL }, [/^url An sqs destination has no URL/]],
    ['unknown keys', { config: { ...CONFIG, queue_url: 'x' } }, [/^config.queue_url is not known here/]],
    [
      'a queue URL that is not a string',
      { config: { ...CONFIG, queueUrl: { href: QUEUE_URL } } },
      [/^config.queueUrl must be an absolute URL/],
    ],
    ['only a queue name', { config: { ...CONFIG, queueUrl: 'orders' } }, [/^config.queueUrl must be an absolute URL/]],
    [
      'a queue URL without a queue',
      { config: { ...CONFIG, queueUrl: 'https://sqs.eu-west-1.amazonaws.com/' } },
      [/^config.queueUrl must end in the name/],
    ],
    [
      'a long queue URL',
      { config: { ...CONFIG, queueUrl: `${QUEUE_URL}${'a'.repeat(2048)}` } },
      [/^config.queueUrl must be an absolute URL/],
    ],
    [
      'another protocol',
      { config: { ...CONFIG, queueUrl: 'ftp://sqs.example.com/orders' } },
      [/^config.queueUrl must be an https URL/],
    ],
    ['a query', { config: { ...CONFIG, queueUrl: `${QUEUE_URL}?a=1` } }, [/^config.queueUrl must not have a query/]],
    [
      'a user',
      { config: { ...CONFIG, queueUrl: 'https://a:b@sqs.example.com/orders' } },
      [/^config.queueUrl must not have a query/],
    ],
    [
      'plain http when egress does not permit it',
      { config: { ...CONFIG, queueUrl: 'http://sqs.example.com/1/q' } },
      [/^config.queueUrl /],
    ],
    ['a private address', { config: { ...CONFIG, queueUrl: 'https://10.0.0.1/1/q' } }, [/^config.queueUrl /]],
    [
      'an endpoint that egress does not permit',
      { config: { ...CONFIG, endpoint: 'https://169.254.169.254/' } },
      [/^config.endpoint /],
    ],
    [
      'an endpoint that is not a URL',
      { config: { ...CONFIG, endpoint: 7 } },
      [/^config.endpoint must be an absolute URL/],
    ],
    ['an invalid region', { config: { ...CONFIG, region: 'EU West' } }, [/^config.region must be a region/]],
    [
      'a region that changes the host',
      { config: { ...CONFIG, region: 'evil.example/' } },
      [/^config.region must be a region/],
    ],
    ['a FIPS region', { config: { ...CONFIG, region: 'fips-us-east-1' } }, [/^config.region must be a region/]],
    [
      'a group for a standard queue',
      { config: { ...CONFIG, messageGroupId: 'all' } },
      [/^config.messageGroupId is for FIFO queues/],
    ],
    [
      'a group with a space',
      { config: { ...CONFIG, queueUrl: `${QUEUE_URL}.fifo`, messageGroupId: 'a b' } },
      [/^config.messageGroupId must be/],
    ],
    [
      'a long group',
      { config: { ...CONFIG, queueUrl: `${QUEUE_URL}.fifo`, messageGroupId: 'a'.repeat(129) } },
      [/^config.messageGroupId must be/],
    ],
    ['no secret', { credentials: { accessKeyId: 'AKIA' } }, [/^credentials.secretAccessKey is required/]],
    [
      'unknown credentials',
      { credentials: { ...CREDENTIALS, profile: 'default', constructor: 'x' } },
      [/^credentials.profile is not known/, /^credentials.constructor is not known/],
    ],
    [
      'a line break in a secret',
      { credentials: { ...CREDENTIALS, secretAccessKey: 'a\nb' } },
      [/^credentials.secretAccessKey must be/],
    ],
  ])('returns all faults of %s', (_title, given, expected) => {
    const faults = faultsOf(given);

    expect(faults).toHaveLength(expected.length);
    for (const form of expected) expect(faults).toContainEqual(expect.stringMatching(form));
  });

  it('never quotes a credential', () => {
    const secret = 'not to be seen\n';

    expect(
      faultsOf({ credentials: { accessKeyId: secret, secretAccessKey: secret, sessionToken: secret } }).join(),
    ).not.toContain('not to be');
  });
});

describe('queueSettings', () => {
  it.each([
    [QUEUE_URL, undefined, 'https://sqs.eu-west-1.amazonaws.com'],
    [QUEUE_URL, 'https://vpce-1.sqs.eu-west-1.vpce.amazonaws.com', 'https://vpce-1.sqs.eu-west-1.vpce.amazonaws.com/'],
    ['https://SQS.example.com:443/1/q', undefined, 'https://sqs.example.com'],
    ['http://127.0.0.1:5000/1/q', undefined, 'http://127.0.0.1:5000'],
  ])('%s with the endpoint %s sends requests to %s', (queueUrl, endpoint, expected) => {
    expect(queueSettings({ config: { ...CONFIG, queueUrl, endpoint }, credentials: CREDENTIALS })?.endpoint).toBe(
      expected,
    );
  });

  it.each([
    ['orders', false],
    ['orders.fifo', true],
  ])('%s is a FIFO queue: %s', (name, isFifo) => {
    expect(
      queueSettings({ config: { ...CONFIG, queueUrl: `https://sqs.example.com/1/${name}` }, credentials: CREDENTIALS }),
    ).toMatchObject({ isFifo });
  });

  it('returns null for invalid settings', () => {
    expect(queueSettings({ config: {}, credentials: CREDENTIALS })).toBeNull();
    expect(queueSettings({ config: CONFIG, credentials: null })).toBeNull();
  });
});
