import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import {
  admitsSender,
  AUTHOR_CHARACTERS_MAX,
  readAllowedSender,
  soleSender,
  unambiguousSender,
} from './allowed-senders.js';

describe('readAllowedSender', () => {
  it.each([
    ['Anna@Example.COM', 'anna@example.com'],
    ['@Example.com', '@example.com'],
    ['*.example.com', '*.example.com'],
    ['@bücher.example', '@xn--bcher-kva.example'],
  ])('%s is kept as %s', (text, entry) => {
    expect(readAllowedSender(text)).toEqual({ entry });
  });

  it.each([
    '',
    'example.com',
    '@',
    '*.',
    '*@example.com',
    'a@b@c.example',
    'Anna <a@example.com>',
    '<a@example.com>',
    '@a b',
    '@exa*mple.com',
    'a@example.com, b@example.com',
  ])('%j is none', (text) => {
    expect(readAllowedSender(text)).toHaveProperty('fault');
  });
});

describe('soleSender', () => {
  it.each<[string[], string | null]>([
    [['Anna <Anna@Example.com>'], 'anna@example.com'],
    [['anna@example.com'], 'anna@example.com'],
    [['"Anna <ceo@bank.example>" <anna@example.com>'], 'anna@example.com'],
    [['"a\\" <ceo@bank.example>" <anna@example.com> (work (home))'], 'anna@example.com'],
    [['=?utf-8?q?ceo=40bank=2Eexample?= <anna@example.com>'], 'anna@example.com'],
    [[], null],
    [['anna@example.com', 'ceo@bank.example'], null],
    [['anna@example.com, ceo@bank.example'], null],
    [['Anna <anna@example.com>, <ceo@bank.example>'], null],
    [['<ceo@bank.example> <anna@example.com>'], null],
    [['<anna@example.com> trailing'], null],
    [['(a \\( b (c \\) d)) <anna@example.com>'], 'anna@example.com'],
    [['"never ends <anna@example.com>'], null],
    [['(never ends \\) <anna@example.com>'], null],
    [['group: anna@example.com;'], null],
    [['<@relay.example:anna@example.com>'], null],
    [['<anna(comment)@example.com>'], null],
    [['Anna <anna@example.com>,'], null],
    [['Example, Anna <anna@example.com>'], null],
    [['anna@example.com@bank.example'], null],
    [['anna@[127.0.0.1]'], null],
    [['Anna'], null],
    [[''], null],
  ])('of %j is %s', (fields, sender) => {
    expect(soleSender(fields)).toBe(sender);
  });

  it.each([
    ['comments in comments', '('],
    ['quotes in a quoted string', '\\"'],
    ['parentheses in a comment', '\\('],
    ['both', '(\\"'],
  ])('scans %s only once when they are unterminated', async (_, part) => {
    for (const begin of ['', '"', '(']) {
      const field = `${begin}${part.repeat(120_000)} <a@example.com>`;
      expect(soleSender([field])).toBeNull();
      expect(await growthOf(field, (from) => soleSender([from]))).toBeLessThan(LINEAR);
    }
  });

  it('a header that is too long has no clear sender', () => {
    const sized = (length: number): string => `${'x'.repeat(length - 16)} <a@example.com>`;

    expect(soleSender([sized(AUTHOR_CHARACTERS_MAX)])).toBe('a@example.com');
    expect(soleSender([sized(AUTHOR_CHARACTERS_MAX + 1)])).toBeNull();
  });
});

describe('unambiguousSender', () => {
  it.each<[string, string | null]>([
    ['Anna <Anna@Example.com>', 'anna@example.com'],
    ['"ceo@bank.example" <anna@example.com>', 'anna@example.com'],
    ['(ceo@bank.example) anna@example.com', 'anna@example.com'],
    ['Anna@example.com <anna@example.com>', 'anna@example.com'],
    ['[Acme] Support <anna@example.com>', 'anna@example.com'],
    ['ceo@bank.example <anna@example.com>', null],
    ['ceo@bank.example\t<anna@example.com>', null],
    ['Anna ceo@bank.example <anna@example.com>', null],
    ['anna@example.com, ceo@bank.example', null],
  ])('of %j is %s', (field, sender) => {
    expect(unambiguousSender(field)).toBe(sender);
  });
});

describe('an alias', () => {
  it('accepts all mail without entries, including mail without a clear sender', () => {
    expect([admitsSender([], 'a@example.com'), admitsSender([], null)]).toEqual([true, true]);
  });

  it.each<[string, string | null, boolean]>([
    ['anna@example.com', 'anna@example.com', true],
    ['anna@example.com', 'bob@example.com', false],
    ['@example.com', 'bob@example.com', true],
    ['@example.com', 'bob@mail.example.com', false],
    ['@example.com', 'bob@notexample.com', false],
    ['*.example.com', 'bob@mail.example.com', true],
    ['*.example.com', 'bob@example.com', false],
    ['*.example.com', 'bob@notexample.com', false],
    ['@example.com', null, false],
  ])('with %s admits %s: %s', (entry, sender, isAdmitted) => {
    expect(admitsSender(['other@else.example', entry], sender)).toBe(isAdmitted);
  });
});
