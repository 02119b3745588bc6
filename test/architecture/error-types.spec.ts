import { textOf } from './source-tree.js';

/** Returns the members of a union type of strings, as written in the source. */
function unionOf(file: string, type: string): string[] {
  const [, members = ''] = new RegExp(`type ${type} =([^;]+);`).exec(textOf(file)) ?? [];
  return [...members.matchAll(/'([a-z_]+)'/g)].map((match) => match[1] ?? '');
}

const types = unionOf('src/kernel/errors.ts', 'ErrorType');
const sections = textOf('docs/errors.md').split(/^## /m).slice(1);
const titles = sections.map((section) => section.split('\n')[0] ?? '');

describe('docs/errors.md', () => {
  it('has a section for every error type, in the same order, and no other', () => {
    expect(types.length).toBeGreaterThan(10);
    expect(titles).toEqual(types);
  });

  it.each(sections.map((section): [string, string] => [section.split('\n')[0] ?? '', section]))(
    'the section %s gives the HTTP status that the service returns',
    (type, section) => {
      const [, status] = new RegExp(`\\b${type}: (\\d{3}),`).exec(textOf('src/http/envelope.ts')) ?? [];
      const [, ...body] = section.split('\n').filter((line) => line.trim() !== '');

      expect(body.join(' ')).toMatch(new RegExp(`^${status}\\b`));
      expect(body.join(' ').length).toBeGreaterThan('413.'.length + 20);
    },
  );
});
