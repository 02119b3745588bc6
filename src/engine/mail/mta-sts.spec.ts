import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { announcedPolicy, isNamed, readPolicy } from './mta-sts.js';

const POLICY = 'version: STSv1\nmode: enforce\nmx: mail.example.com\nmx: *.example.net\nmax_age: 86400\n';

describe('MTA-STS', () => {
  it.each<[string[], string | null]>([
    [['v=STSv1; id=20160831085700Z;'], '20160831085700Z'],
    [['v=spf1 -all', 'v=STSv1;id=a'], 'a'],
    [['v=STSv1; x=y; id=b'], 'b'],
    [['v=STSv1; id=a', 'v=STSv1; id=b'], null],
    [['v=STSv1'], null],
    [['v=STSv1; id=a_b'], null],
    [[], null],
  ])('%j announces %s', (records, id) => {
    expect(announcedPolicy(records)).toBe(id);
  });

  it.each([['\n'], ['\r\n']])('parses a policy with any kind of line end', (end) => {
    expect(readPolicy(POLICY.replaceAll('\n', end))).toEqual({
      mode: 'enforce',
      mx: ['mail.example.com', '*.example.net'],
      maxAgeSeconds: 86_400,
    });
  });

  it('uses the first of repeated keys, ignores unknown ones, and limits the lifetime to a year', () => {
    expect(readPolicy(`${POLICY}mode: none\nnew_key: 1\n\n`)?.mode).toBe('enforce');
    expect(readPolicy(POLICY.replace('86400', '9999999999'))?.maxAgeSeconds).toBe(31_557_600);
    expect(readPolicy('version: STSv1\nmode: none\nmax_age: 1')).toEqual({ mode: 'none', mx: [], maxAgeSeconds: 1 });
  });

  it('reads 64 KB of spaces within a value in linear time', async () => {
    const text = `${POLICY}key: a${' '.repeat(64 * 1024)}b`;

    expect(readPolicy(text)?.mode).toBe('enforce');
    expect(await growthOf(text, readPolicy)).toBeLessThan(LINEAR);
  });

  it.each([
    '',
    '<html>',
    POLICY.replace('STSv1', 'STSv2'),
    POLICY.replace('enforce', 'maybe'),
    POLICY.replace('86400', '-1'),
    POLICY.replace('86400', ''),
    'version: STSv1\nmode: enforce\nmax_age: 1',
    'version: STSv1\nmode: enforce\nmx: *\nmax_age: 1',
  ])('returns null for %j', (text) => {
    expect(readPolicy(text)).toBeNull();
  });

  it.each<[string, boolean]>([
    ['mail.example.com', true],
    ['MAIL.example.com.', true],
    ['a.example.net', true],
    ['a.b.example.net', false],
    ['example.net', false],
    ['evilexample.net', false],
    ['mail.example.com.evil.org', false],
  ])('%s may receive the mail: %s', (host, isAllowed) => {
    expect(isNamed({ mx: ['mail.example.com', '*.example.net'] }, host)).toBe(isAllowed);
  });
});
