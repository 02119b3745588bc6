import { isCovered, toggled, typeTree } from './event-tree';

const type = (name: string): { name: string; description: null } => ({ name, description: null });

describe('typeTree', () => {
  it('groups types with the same first word', () => {
    const tree = typeTree([type('ping'), type('invoice.sent'), type('customer.created'), type('invoice.paid')]);

    expect(tree.map(({ pattern, children }) => [pattern, children.map((child) => child.pattern)])).toEqual([
      ['customer.*', ['customer.created']],
      ['invoice.*', ['invoice.paid', 'invoice.sent']],
      ['ping', []],
    ]);
  });
});

describe('isCovered', () => {
  it.each([
    ['invoice.paid', ['invoice.*'], true],
    ['invoice.paid', ['invoice.paid'], true],
    ['invoice.paid.late', ['invoice.*'], true],
    ['invoices.paid', ['invoice.*'], false],
    ['invoice.*', ['invoice.*'], true],
    ['invoice.*', ['invoice.paid'], false],
    ['invoice.paid', [], false],
  ])('%s by %j: %s', (pattern, patterns, expected) => {
    expect(isCovered(pattern, patterns)).toBe(expected);
  });
});

describe('toggled', () => {
  it('a wildcard replaces the types below it', () => {
    expect(toggled('invoice.*', ['customer.created', 'invoice.paid', 'invoice.sent'])).toEqual([
      'customer.created',
      'invoice.*',
    ]);
    expect(toggled('invoice.*', ['invoice.*'])).toEqual([]);
  });
});
