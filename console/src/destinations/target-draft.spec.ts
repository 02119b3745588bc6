import {
  NEW_TARGET,
  newTargetOf,
  targetChangesOf,
  type TargetDraft,
  targetDraftOf,
  targetFaultOf,
} from './target-draft';

const FORWARD = { method: false, path: false, query: true };
const HTTPS = { type: 'https', url: 'https://example.com/hooks', config: {}, forward: FORWARD };
const QUEUE = {
  type: 'sqs',
  url: null,
  config: {
    queueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/orders',
    region: 'eu-west-1',
    circuit_breaker: { failure_threshold: 20 },
  },
  forward: null,
};

describe('a new destination', () => {
  it.each<[string, Partial<TargetDraft>, Record<string, unknown>]>([
    ['https', { url: ' https://example.com ' }, { url: 'https://example.com' }],
    ['pull', { url: 'https://left-over.example' }, {}],
    [
      'sqs',
      { queueUrl: 'https://sqs.example/1/q', region: 'eu-west-1', accessKeyId: 'AK', secretAccessKey: 'SK' },
      {
        config: { queueUrl: 'https://sqs.example/1/q', region: 'eu-west-1' },
        credentials: { accessKeyId: 'AK', secretAccessKey: 'SK' },
      },
    ],
    [
      'kafka',
      { config: '{"topic": "orders"}', credentials: 'user: a\npassword: b', threshold: '3' },
      {
        config: { topic: 'orders', circuit_breaker: { failure_threshold: 3 } },
        credentials: { user: 'a', password: 'b' },
      },
    ],
  ])('of type %s from %j is %j', (type, draft, body) => {
    expect(newTargetOf(type, { ...NEW_TARGET, ...draft })).toEqual(body);
  });
});

describe('the changes of a destination', () => {
  it.each([HTTPS, QUEUE, { type: 'kafka', url: null, config: { topic: 'orders' }, forward: null }])(
    'are empty if nothing was edited: %j',
    (stored) => {
      const draft = targetDraftOf(stored);

      expect(targetChangesOf(stored.type, draft, draft)).toEqual({});
    },
  );

  it('contain the whole configuration if one of its fields was edited', () => {
    const before = targetDraftOf(QUEUE);

    expect(targetChangesOf('sqs', { ...before, region: 'eu-central-1' }, before)).toEqual({
      config: { ...QUEUE.config, region: 'eu-central-1' },
    });
    expect(targetChangesOf('sqs', { ...before, threshold: '' }, before)).toEqual({
      config: { queueUrl: QUEUE.config.queueUrl, region: 'eu-west-1' },
    });
  });

  it('contain credentials only if some were typed', () => {
    const before = targetDraftOf(QUEUE);

    expect(targetChangesOf('sqs', { ...before, accessKeyId: 'AK', secretAccessKey: 'SK' }, before)).toEqual({
      credentials: { accessKeyId: 'AK', secretAccessKey: 'SK' },
    });
  });

  it('contain the URL and the forwarded parts', () => {
    const before = targetDraftOf(HTTPS);
    const forward = { ...FORWARD, path: true };

    expect(targetChangesOf('https', { ...before, url: 'https://new.example', forward }, before)).toEqual({
      url: 'https://new.example',
      forward,
    });
  });
});

describe('targetFaultOf', () => {
  it.each<[string, Partial<TargetDraft>, number | null, number | null]>([
    ['https', { config: '{' }, null, null],
    ['kafka', { config: '{}', credentials: 'a: b' }, null, null],
    ['kafka', { config: '{\n"a": }' }, 2, null],
    ['kafka', { credentials: 'a: b\nc' }, null, 2],
  ])('%s with %j: line %j of the settings, line %j of the credentials', (type, draft, line, credentialsLine) => {
    const fault = targetFaultOf(type, { ...NEW_TARGET, ...draft }, 'no object');

    expect([fault.config?.line ?? null, fault.credentialsLine]).toEqual([line, credentialsLine]);
  });
});
