import fc from 'fast-check';
import { channelFault, patternFault, patternsOf, subscription } from './subscription.js';

describe('patternsOf', () => {
  it('returns every pattern that matches a type, and no other', () => {
    expect(patternsOf('order.paid.late')).toEqual(['order.paid.late', 'order.*', 'order.paid.*']);
    fc.assert(
      fc.property(fc.stringMatching(/^[ab.]{1,8}$/), fc.stringMatching(/^[ab.]{1,6}(\.\*)?$/), (type, pattern) => {
        expect(patternsOf(type).includes(pattern)).toBe(subscription([pattern], []).matchesType(type));
      }),
    );
  });
});

describe('subscription', () => {
  it.each<[string, string[], string, boolean]>([
    ['no pattern matches every type', [], 'invoice.paid', true],
    ['an exact type', ['invoice.paid'], 'invoice.paid', true],
    ['another type', ['invoice.paid'], 'invoice.paid.twice', false],
    ['a prefix', ['invoice.*'], 'invoice.paid', true],
    ['a prefix matches two levels below it', ['invoice.*'], 'invoice.line.added', true],
    ['a prefix does not match the type itself', ['invoice.*'], 'invoice', false],
    ['a prefix ends at its dot', ['invoice.*'], 'invoices.paid', false],
    ['one of several', ['order.*', 'invoice.paid'], 'invoice.paid', true],
    ['none of several', ['order.*', 'invoice.paid'], 'invoice.void', false],
    ['case counts', ['Invoice.*'], 'invoice.paid', false],
  ])('%s', (_, patterns, type, isMatch) => {
    expect(subscription(patterns, []).matchesType(type)).toBe(isMatch);
  });

  it.each<[string, string[], string[], boolean]>([
    ['an endpoint without channels receives everything', [], ['a'], true],
    ['no channels anywhere', [], [], true],
    ['one in common', ['a', 'b'], ['b', 'c'], true],
    ['none in common', ['a'], ['b'], false],
    ['an endpoint with channels, and a message without channels', ['a'], [], false],
  ])('%s', (_, channels, named, isMatch) => {
    expect(subscription([], channels).matchesChannels(named)).toBe(isMatch);
  });

  it('a prefix matches exactly the types that start with it and its dot', () => {
    const segment = fc.stringMatching(/^[a-z]{1,4}$/);
    fc.assert(
      fc.property(segment, fc.array(segment, { maxLength: 3 }), (prefix, rest) => {
        const type = [prefix, ...rest].join('.');
        expect(subscription([`${prefix}.*`], []).matchesType(type)).toBe(rest.length > 0);
      }),
    );
  });
});

describe('faults', () => {
  it.each(['invoice.paid', 'invoice.*', 'a', 'a:b/c-d_e'])('%s is a pattern', (pattern) =>
    expect(patternFault(pattern)).toBeNull(),
  );
  it.each(['', '*', '.*', 'a.*.b', 'a*', 'a b', 'ä', 'x'.repeat(257)])('%j is none', (pattern) =>
    expect(patternFault(pattern)).not.toBeNull(),
  );
  it.each(['tenant-1', 'a/b'])('%s is a channel', (channel) => expect(channelFault(channel)).toBeNull());
  it.each(['', 'a.*', 'a b', 'x'.repeat(257)])('%j is none', (channel) => expect(channelFault(channel)).not.toBeNull());
});
