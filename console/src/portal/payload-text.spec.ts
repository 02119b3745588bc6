import { payloadText } from './payload-text';

describe('payloadText', () => {
  it.each([
    [
      '{"id":"a","payload":{"n":12345678901234567890,"x":1.10,"s":"\\u0041"}}',
      '{"n":12345678901234567890,"x":1.10,"s":"\\u0041"}',
    ],
    [
      '{"id":"a","note":"{\\",\\"payload\\":1","headers":{"x":",\\"payload\\":2","payload":"y"},"payload":[1e400]}',
      '[1e400]',
    ],
    ['{"id":"a","payload":"text"}', '"text"'],
    ['{"id":"a","payload":null}', 'null'],
    ['{"id":"a","payload_truncated":true}', null],
  ])('%s', (event, expected) => {
    expect(payloadText(event)).toBe(expected);
  });
});
