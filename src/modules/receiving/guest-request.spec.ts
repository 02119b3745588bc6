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
  it('contains method, path, verification result, and all values of query parameters and headers; nothing else', () => {
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
      '',
    );

    expect(seen).toEqual({
      method: 'PUT',
      path: '/a%20b',
      query: { a: ['1', '2'], b: '  ', c: '' },
      headers: { 'x-a': ['1', '2'], 'x-b': '' },
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
    expect(guestRequest(request({ body }), 'none', '').body).toEqual(expected);
  });

  const formRequest = (body: string): ReceivedRequest =>
    request({ headers: [['content-type', 'application/x-www-form-urlencoded']], body: Buffer.from(body) });

  it.each([
    ['the code does not name it', 'a=1', 'event.body', undefined],
    ['only a longer name has it', 'a=1', 'format(event)', undefined],
    ['the body is another', '', 'event.form', {}],
  ])('has no fields of a form if %s', (_what, body, code, expected) => {
    expect(guestRequest(formRequest(body), 'none', code).form).toEqual(expected);
  });

  it('contains the first 1,000 fields of a form', () => {
    const fields = Array.from({ length: 1_001 }, (_, at) => `f${at}=${'x'.repeat(1_000)}`);

    const { form = {} } = guestRequest(formRequest(fields.join('&')), 'none', 'event["form"]');

    expect(Object.keys(form)).toHaveLength(1_000);
    expect(form['f999']).toHaveLength(1_000);
  });

  it('contains the fields of a form, with a list for a repeated name', () => {
    const { form, body } = guestRequest(formRequest('a=1&b=%26&a=2'), 'none', '({ form }) => form');

    expect(form).toEqual({ a: ['1', '2'], b: '&' });
    expect(body).toBe('a=1&b=%26&a=2');
  });

  it('handles names like properties of Object.prototype', () => {
    const { query, headers } = guestRequest(
      request({ query: '__proto__=q&constructor=c', headers: [['__proto__', 'h']] }),
      'none',
      '',
    );

    expect(JSON.stringify({ query, headers })).toBe(
      '{"query":{"__proto__":"q","constructor":"c"},"headers":{"__proto__":"h"}}',
    );
  });
});
