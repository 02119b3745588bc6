import { aliasesFor, platformAddress, readLocalPart, withoutTag } from './alias-address.js';

describe('readLocalPart', () => {
  it.each([
    ['Support', 'support'],
    ['a.b-c_d', 'a.b-c_d'],
    ['0', '0'],
    ['x'.repeat(64), 'x'.repeat(64)],
    ['abuser', 'abuser'],
  ])('%s is kept as %s', (text, localPart) => {
    expect(readLocalPart(text, 'platform')).toEqual({ localPart });
  });

  it.each([
    '',
    ' ',
    '.a',
    'a.',
    'a..b',
    '+b',
    'a+',
    'a+b+c',
    'a*b',
    'a**',
    '.*',
    '+*',
    'a..*',
    'postmaster*',
    'abuse+*',
    'abuse+x',
    'bounce-*',
    `${'x'.repeat(64)}*`,
    'a b',
    'a@b',
    'ä',
    '"a"',
    '**',
    'x'.repeat(65),
    'postmaster',
    'Abuse',
    'MAILER-DAEMON',
    'bounce',
    'bounces',
    'bounces-42',
    'bounce.a',
    'b+x',
    'B+*',
    'b+r*',
  ])('%j is refused', (text) => {
    expect(readLocalPart(text, 'custom')).toHaveProperty('fault');
  });

  it.each([
    '*',
    'support*',
    'support-*',
    'in.voices.*',
    'support+*',
    'support+eu',
    'support+eu*',
    'bounced*',
    'b*',
    'bb+x',
  ])('allows %s only on a custom domain', (text) => {
    expect(readLocalPart(text.toUpperCase(), 'custom')).toEqual({ localPart: text });
    expect(readLocalPart(text, 'platform')).toHaveProperty('fault');
  });
});

describe('a platform address', () => {
  it('appends the slug to the label', () => {
    expect(platformAddress('in.voices', 'acme', 'posthorn.example')).toEqual({
      address: 'in.voices.acme@posthorn.example',
    });
  });

  it('has at most 64 characters before the "@"', () => {
    expect(platformAddress('x'.repeat(59), 'acme', 'posthorn.example')).toHaveProperty('address');
    expect(platformAddress('x'.repeat(60), 'acme', 'posthorn.example')).toHaveProperty('fault');
  });
});

describe('a recipient', () => {
  it('matches the address with its tag, without it, the longest pattern first, and the catch-all last', () => {
    expect(aliasesFor('Ab+c', 'a.example')).toEqual(
      ['ab+c', 'ab', 'ab+c*', 'ab+*', 'ab*', 'a*', '*'].map((name) => `${name}@a.example`),
    );
  });

  it('matches at most 67 addresses, however long it is', () => {
    const matched = aliasesFor(`${'x'.repeat(200)}+y`, 'a.example');

    expect(matched).toHaveLength(66);
    expect(matched[2]).toBe(`${'x'.repeat(63)}*@a.example`);
  });

  it.each([
    ['Support', 'support'],
    ['support+a+b', 'support'],
    ['+tag', ''],
  ])('%s without its tag is %j', (local, without) => {
    expect(withoutTag(local)).toBe(without);
  });
});
