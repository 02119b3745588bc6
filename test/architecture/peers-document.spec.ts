import { filesBelow, textOf } from './source-tree.js';

interface Row {
  readonly gap: string;
  readonly peers: string;
  readonly does: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

/**
 * Returns the rows of the table of gaps. Each row has a gap, the products with this gap, Posthorn's solution, and tests
 * as `file` “title”.
 */
function rowsOf(document: string): Row[] {
  return document
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| gap |'))
    .map((line) => {
      const [gap = '', peers = '', does = '', ...shownBy] = line.slice(2, -2).split(' | ');
      const tests = shownBy
        .join(' | ')
        .split('<br>')
        .map((test) => {
          const [, file = test, title = ''] = /^`([^`]+)` “(.+)”$/.exec(test) ?? [];
          return { file, title };
        });
      return { gap, peers, does, tests };
    });
}

/** Returns the content of every string literal in a test file, without escapes. */
function quotedIn(file: string): Set<string> {
  const quoted = textOf(file).matchAll(/'((?:[^'\\\n]|\\.)+)'|"((?:[^"\\\n]|\\.)+)"|`((?:[^`\\]|\\.)+)`/g);
  return new Set(
    [...quoted].map(([, single, double, template]) => (single ?? double ?? template ?? '').replace(/\\(['"`])/g, '$1')),
  );
}

describe('docs/peers.md', () => {
  const rows = rowsOf(textOf('docs/peers.md'));
  const files = new Set(filesBelow('src', 'test'));
  const scenarios = [...files].filter((file) => /^test\/api\/peers-gaps.*\.e2e-spec\.ts$/.test(file));

  it('has its rows', () => {
    expect(rows.length).toBeGreaterThan(40);
    expect(new Set(rows.map(({ gap }) => gap)).size).toBe(rows.length);
    expect(scenarios).toHaveLength(2);
  });

  it.each(rows.map((row) => [row.gap, row] as const))(
    "%s: names the products and Posthorn's solution, and only existing tests",
    (_gap, { peers, does, tests }) => {
      expect(peers).toMatch(/Svix|Outpost|Convoy|Hook0|Hookdeck|Asynq/);
      expect(does).toMatch(/\S/);
      for (const { file, title } of tests) {
        expect([...files]).toContain(file);
        expect(file).toMatch(/spec\.ts$/);
        expect([...quotedIn(file)]).toContain(title);
      }
    },
  );

  it('names every scenario that was written for it, and their titles begin with the product and its thread or file', () => {
    const titles = scenarios.flatMap((file) =>
      [...textOf(file).matchAll(/^ +it\('((?:[^'\\]|\\.)+)'/gm)].map(([, title = '']) => title),
    );

    expect(titles.length).toBeGreaterThan(10);
    for (const title of titles)
      expect(title).toMatch(/^(Svix|Outpost|Convoy|Hook0|Asynq) (#\d+(, #\d+)*|[\w./-]+\.(rs|go)): /);
    expect(rows.flatMap(({ tests }) => tests.map(({ title }) => title))).toEqual(expect.arrayContaining(titles));
  });
});
