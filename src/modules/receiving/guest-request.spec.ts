import type { ReceivedRequest } from '#engine/inbound/request.js';
import { guestRequest } from './guest-request.js';

const request = (more: Partial<ReceivedRequest>): ReceivedRequest => ({
  method: 'POST',
  path: '',
  query: '',
  headers: [],
  body: Buffer.alloc(0),
  url: 'https://in.example.com/in/acme/x',
  ip: '203.0.113.7',
  ...more,
});

describe('guestRequest', () => {
  it('contains method, path, verification result, the first value of each query parameter, and joined headers; nothing else', () => {
    const seen = guestRequest(
      request({
        method: 'PUT',
        path: '/a%20b',
        query: 'a=1&b=%20+&a=2&c',
        headers: [
          ['x-a', '1'],
          ['x-b', ''],
          ['x-a', '2'],
        ],
      }),
      'verified',
    );

    expect(seen).toEqual({
      method: 'PUT',
      path: '/a%20b',
      query: { a: '1', b: '  ', c: '' },
      headers: { 'x-a': '1, 2', 'x-b': '' },
      body: '',
      verification: 'verified',
    });
  });

  it.each<[string, Buffer, unknown]>([
    ['JSON', Buffer.from(' {"a":[1,null]}'), { a: [1, null] }],
    ['a JSON text', Buffer.from('"a"'), 'a'],
    ['null', Buffer.from('null'), null],
    ['text', Buffer.from('a=1&b=é😀'), 'a=1&b=é😀'],
    ['text with U+0000', Buffer.from('a\0'), 'a\0'],
    ['bytes', Buffer.from([0xff, 0x00]), '/wA='],
    ['nothing', Buffer.alloc(0), ''],
  ])('the body: %s', (_title, body, expected) => {
    expect(guestRequest(request({ body }), 'none').body).toEqual(expected);
  });

  it('handles names like properties of Object.prototype', () => {
    const { query, headers } = guestRequest(
      request({ query: '__proto__=q&constructor=c', headers: [['__proto__', 'h']] }),
      'none',
    );

    expect(JSON.stringify({ query, headers })).toBe(
      '{"query":{"__proto__":"q","constructor":"c"},"headers":{"__proto__":"h"}}',
    );
  });
});
