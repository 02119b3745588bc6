import { aliasesFor, platformAddress, readLocalPart } from './alias-address.js';

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
    'a+b',
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
  ])('%j is refused', (text) => {
    expect(readLocalPart(text, 'custom')).toHaveProperty('fault');
  });

  it('allows a catch-all only on a custom domain', () => {
    expect(readLocalPart('*', 'custom')).toEqual({ localPart: '*' });
    expect(readLocalPart('*', 'platform')).toHaveProperty('fault');
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
  it.each([
    ['Support', 'support@a.example'],
    ['support+tag', 'support@a.example'],
    ['support+a+b', 'support@a.example'],
    ['+tag', '@a.example'],
  ])('%s matches the alias %s, or else the catch-all', (local, exact) => {
    expect(aliasesFor(local, 'a.example')).toEqual({ exact, catchAll: '*@a.example' });
  });
});
