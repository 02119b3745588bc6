import { filesBelow, textOf } from '../architecture/source-tree.js';

const document = textOf('docs/extending.md');
const quotes = [...document.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
/** Source files of the sample extensions, and of the test suite of one of them. */
const sources = [
  ...filesBelow(
    'examples/posthorn-nats/src',
    'examples/posthorn-contacts/src',
    'examples/posthorn-acme/src',
    'examples/posthorn-depot/src',
  ),
  'test/extensions/nats-conformance.e2e-spec.ts',
].map(textOf);

describe('docs/extending.md', () => {
  it('quotes the samples for every extension point', () => {
    expect(quotes.length).toBeGreaterThan(12);
  });

  it.each(quotes.map((code) => [code.split('\n')[0]?.trim(), code]))(
    'quotes a sample exactly, in fewer than 30 lines: %s',
    (_firstLine, code) => {
      expect(sources.some((source) => source.includes(code))).toBe(true);
      expect(code.trimEnd().split('\n').length).toBeLessThan(30);
    },
  );

  it('names only existing exports of the public API', () => {
    const face = textOf('src/extension/index.ts');
    const [, injected = ''] = /You can inject these classes anywhere: ([\s\S]*?)\.\n/.exec(document) ?? [];
    const names = [...injected.matchAll(/`(\w+)`/g)].map(([, name]) => name as string);

    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(face))).toEqual([]);
  });

  it('links only to existing files', () => {
    const links = [...document.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file]) => file as string);
    const files = filesBelow('src', 'test', 'examples');

    expect(links.filter((link) => !files.some((file) => file === link || file.startsWith(`${link}/`)))).toEqual([]);
  });
});
