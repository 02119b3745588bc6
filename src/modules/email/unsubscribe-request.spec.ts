import type { Fault } from '#kernel/errors.js';
import { readEmail } from './email-draft.js';
import { decidesUnsubscribe, readUnsubscribe, type UnsubscribeFields } from './unsubscribe-request.js';

function read(fields: Partial<UnsubscribeFields>) {
  const faults: Fault[] = [];
  const result = readUnsubscribe(
    { unsubscribe: undefined, topicId: undefined, headers: {}, recipients: 1, ...fields },
    (path, message) => (faults.push({ path, message }), null),
  );
  return { ...result, faults: faults.map(({ path, message }) => `${path}: ${message}`) };
}

describe('readUnsubscribe', () => {
  it.each<[string, Partial<UnsubscribeFields>, { topic: string | null } | null]>([
    ['nothing', {}, null],
    ['false', { unsubscribe: false }, null],
    ['true', { unsubscribe: true }, { topic: null }],
    ['a topic', { unsubscribe: { topic: 'newsletter' } }, { topic: 'newsletter' }],
    ['the field of the package `resend`', { topicId: 'top_1' }, { topic: 'top_1' }],
    ['a header', { headers: { 'X-Unsubscribe': 'True' } }, { topic: null }],
    ['a header with a topic', { headers: { 'x-unsubscribe-topic': ' newsletter ' } }, { topic: 'newsletter' }],
  ])('%s', (_, fields, unsubscribe) => {
    expect(read(fields)).toEqual({ unsubscribe, headers: {}, faults: [] });
  });

  it('keeps the other headers, and list headers of an email without the link', () => {
    const headers = { 'X-Order': '1', 'List-Unsubscribe': '<https://example.com/u>' };

    expect(read({ headers })).toEqual({ unsubscribe: null, headers, faults: [] });
    expect(read({ headers: { 'X-Order': '1', 'X-Unsubscribe': 'true' } }).headers).toEqual({ 'X-Order': '1' });
  });

  it.each<[string, Partial<UnsubscribeFields>, string, string]>([
    ['a string', { unsubscribe: 'newsletter' }, 'unsubscribe', 'must be true'],
    ['an object without a topic', { unsubscribe: {} }, 'unsubscribe', 'must be true'],
    ['an object with more', { unsubscribe: { topic: 'a', to: 'b' } }, 'unsubscribe', 'must be true'],
    ['an empty topic', { unsubscribe: { topic: '' } }, 'unsubscribe.topic', 'id or the key'],
    ['a number as topic', { topicId: 7 }, 'topic_id', 'id or the key'],
    ['a long topic', { topicId: 'a'.repeat(65) }, 'topic_id', 'id or the key'],
    [
      'a header with another value',
      { headers: { 'X-Unsubscribe': 'news' } },
      'headers.X-Unsubscribe',
      'only the value',
    ],
    [
      'an empty topic header',
      { headers: { 'X-Unsubscribe-Topic': '' } },
      'headers.X-Unsubscribe-Topic',
      'id or the key',
    ],
    [
      'field and header',
      { unsubscribe: true, headers: { 'X-Unsubscribe': 'true' } },
      'headers.X-Unsubscribe',
      'second',
    ],
    ['two fields', { unsubscribe: true, topicId: 'top_1' }, 'topic_id', 'second'],
    ['false beside a topic', { unsubscribe: false, topicId: 'top_1' }, 'unsubscribe', 'false, but topic_id'],
    [
      'false beside a header',
      { unsubscribe: false, headers: { 'X-Unsubscribe': 'true' } },
      'unsubscribe',
      'false, but headers.X-Unsubscribe',
    ],
    ['two recipients', { unsubscribe: true, recipients: 2 }, 'unsubscribe', 'exactly one recipient'],
    ['no recipient', { unsubscribe: true, recipients: 0 }, 'unsubscribe', 'exactly one recipient'],
    [
      'a List-Unsubscribe header of the caller',
      { unsubscribe: true, headers: { 'list-unsubscribe': '<mailto:a@example.com>' } },
      'headers.list-unsubscribe',
      'sets this header itself',
    ],
  ])('a fault: %s', (_, fields, path, sentence) => {
    expect(read(fields).faults).toEqual([expect.stringMatching(`^${path}: .*${sentence}`)]);
  });
});

describe('readEmail', () => {
  const EMAIL = { from: 'shop@example.com', to: 'ada@example.org', subject: 'News', text: 'News' };

  it('counts a recipient that is named twice once', () => {
    const draft = readEmail({ ...EMAIL, cc: 'ADA@example.org', unsubscribe: true }, 0);

    expect(draft).toMatchObject({ unsubscribe: { topic: null } });
  });

  it('accepts topicId, and removes the header that requests the link', () => {
    expect(readEmail({ ...EMAIL, topicId: 'news' }, 0)).toMatchObject({ unsubscribe: { topic: 'news' } });
    expect(readEmail({ ...EMAIL, headers: { 'X-Unsubscribe-Topic': 'news' } }, 0)).toMatchObject({
      headers: {},
      unsubscribe: { topic: 'news' },
    });
  });
});

describe('decidesUnsubscribe', () => {
  it.each<[boolean, Record<string, unknown>]>([
    [true, { unsubscribe: false }],
    [true, { unsubscribe: { topic: 'newsletter' } }],
    [true, { topic_id: 'top_1' }],
    [true, { topicId: 'top_1' }],
    [true, { headers: { 'X-Unsubscribe-Topic': 'newsletter' } }],
    [true, { headers: { 'x-unsubscribe': 'true' } }],
    [
      false,
      { unsubscribe: null, topic_id: null, headers: { 'X-Order': '1', 'List-Unsubscribe': '<https://a.example>' } },
    ],
    [false, { headers: 'x-unsubscribe' }],
    [false, {}],
  ])('%s for %j', (isDecided, email) => {
    expect(decidesUnsubscribe(email)).toBe(isDecided);
  });
});
