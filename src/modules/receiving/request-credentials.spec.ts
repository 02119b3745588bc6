import { genericScheme } from '#engine/inbound/generic.js';
import type { Scheme } from '#engine/inbound/scheme.js';
import { credentialNames } from '#engine/inbound/secret-headers.js';
import { requestCredentials } from './request-credentials.js';

const NONE: Scheme = { kind: 'code', verify: () => ({ ok: true }), secretHeaders: ['x-plain'] } as never;

describe('requestCredentials', () => {
  it.each<[string, Scheme, [string, string][], string, string[]]>([
    ['a header without a scheme', NONE, [['authorization', 'secret-1']], '', ['secret-1']],
    ['a bearer token', NONE, [['authorization', 'Bearer abc.def']], '', ['Bearer abc.def', 'abc.def']],
    ['basic credentials', NONE, [['proxy-authorization', 'Basic dTpw']], '', ['Basic dTpw', 'dTpw']],
    ['a header with a sensitive name', NONE, [['x-api-key', 'key-1']], '', ['key-1']],
    ["a header of the endpoint's scheme", NONE, [['x-plain', 'key-2'], ['x-other', 'text']], '', ['key-2']], // prettier-ignore
    ['a repeated header', NONE, [['x-api-key', 'key-1'], ['x-api-key', 'key-2']], '', ['key-1', 'key-2']], // prettier-ignore
    ['single cookies', NONE, [['cookie', 'sid=0123456789; lang=en']], '', ['sid=0123456789; lang=en', '0123456789']],
    ['no short text', NONE, [['x-api-key', 'abc'], ['authorization', 'a b']], '', []], // prettier-ignore
    [
      'a decoded query parameter',
      genericScheme('api-key', { queryParameter: 'key' }),
      [],
      'a=other&k%65y=q%20r+s&key=second',
      ['q r s', 'second'],
    ],
    [
      'a query parameter in every spelling that a server reads',
      genericScheme('api-key', { queryParameter: 'apiKey' }),
      [],
      '?apiKey=key-1&APIKEY=key-2&apiKey[]=key-3&a=1;apikey=key-4',
      ['key-1', 'key-2', 'key-3', 'key-4'],
    ],
    [
      'a header of the scheme with an underscore',
      genericScheme('api-key', { header: 'x-plain' }),
      [['x_plain', 'key-5']],
      '',
      ['key-5'],
    ],
  ])('returns %s', (_what, scheme, headers, query, expected) => {
    expect(requestCredentials({ headers, query }, credentialNames(scheme))).toEqual(expected);
  });
});
