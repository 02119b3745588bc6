import { masked } from './mask-body';

describe('masked', () => {
  it.each([
    ['{"name":"CRM_TOKEN","value":"s3cret"}', '{"name":"CRM_TOKEN","value":"***"}'],
    [
      '{"headers":{"x-token":"s3cret"},"url":"https://a.example"}',
      '{"headers":{"x-token":"***"},"url":"https://a.example"}',
    ],
    [
      '{"credentials":{"access_key_id":"AKIA","nested":["a"]}}',
      '{"credentials":{"access_key_id":"***","nested":["***"]}}',
    ],
    [
      '{"targets":[{"signing_secret":"whsec_1","secret":null}]}',
      '{"targets":[{"signing_secret":"***","secret":null}]}',
    ],
    ['{"legacy_signature":{"key":"k","header":"x-sig"}}', '{"legacy_signature":{"key":"***","header":"x-sig"}}'],
    ['{"grace_seconds":0,"keyboard":"qwerty"}', '{"grace_seconds":0,"keyboard":"qwerty"}'],
    ['{"broken"', null],
    ['', null],
    [JSON.stringify({ long: 'x'.repeat(20_000) }), null],
  ])('%.60s: %s', (text, shown) => {
    expect(masked(text)).toBe(shown);
  });
});
