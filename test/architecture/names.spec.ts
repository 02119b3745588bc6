import { filesBelow, textOf } from './source-tree.js';

/** Names that say nothing, so that everything ends up there. */
const SAYS_NOTHING = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'shared', 'misc', 'manager', 'data']);
/** Results of measurements and key material are nobody's reading. */
const CODE = /\.(ts|mjs|js)$/;

const code = filesBelow('src', 'test', 'bench', 'migrations', 'tools', 'examples').filter((file) => CODE.test(file));

/** The folders of a path, and what its file is called before the first dot. */
function namesIn(file: string): string[] {
  const parts = file.split('/');
  const name = parts.pop() ?? '';
  return [...parts, name.split('.')[0] ?? ''];
}

describe('the source tree', () => {
  it('is there', () => {
    expect(code.length).toBeGreaterThan(100);
  });

  it('has no file and no folder whose name says nothing', () => {
    expect(code.filter((file) => namesIn(file).some((name) => SAYS_NOTHING.has(name.toLowerCase())))).toEqual([]);
  });

  it('reaches the network through globals in egress only', () => {
    // `fetch` and its like need no import, so the import rules can't see them.
    const opensSocket = /(?<![.\w])(fetch|new WebSocket|new EventSource)\(/;
    const service = code.filter(
      (file) => /^src\/(?!egress\/|testing\/|client\/|cli\/)/.test(file) && !file.endsWith('.spec.ts'),
    );

    expect(service.filter((file) => opensSocket.test(textOf(file)))).toEqual([]);
  });
});

describe('what the checks above look at', () => {
  it.each([
    ['src/utils/text.ts', true],
    ['src/http/helpers.ts', true],
    ['src/kernel/common.module.ts', true],
    ['src/bootstrap/data-source.ts', false],
    ['src/kernel/database/database.ts', false],
    ['src/modules/send/shared.store.ts', true],
  ])('%s: a name that says nothing: %s', (file, found) => {
    expect(namesIn(file).some((name) => SAYS_NOTHING.has(name))).toBe(found);
  });
});
