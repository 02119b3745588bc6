import { filesBelow, textOf } from './source-tree.js';

/** Names that do not describe the content. Files with such names attract unrelated code. */
const SAYS_NOTHING = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'shared', 'misc', 'manager', 'data']);
/** Matches code files. Measurement results and key files are not checked. */
const CODE = /\.(ts|mjs|js)$/;

const code = filesBelow('src', 'test', 'bench', 'migrations', 'tools', 'examples').filter((file) => CODE.test(file));

/** Returns the folders of a path, and its file name up to the first dot. */
function namesIn(file: string): string[] {
  const parts = file.split('/');
  const name = parts.pop() ?? '';
  return [...parts, name.split('.')[0] ?? ''];
}

describe('the source tree', () => {
  it('is there', () => {
    expect(code.length).toBeGreaterThan(100);
  });

  it('has no file and no folder with a meaningless name', () => {
    expect(code.filter((file) => namesIn(file).some((name) => SAYS_NOTHING.has(name.toLowerCase())))).toEqual([]);
  });

  it('uses network globals only in egress', () => {
    // Globals such as `fetch` need no import, so the import rules cannot detect them.
    const opensSocket = /(?<![.\w])(fetch|new WebSocket|new EventSource)\(/;
    const service = code.filter(
      (file) => /^src\/(?!egress\/|testing\/|client\/|cli\/)/.test(file) && !file.endsWith('.spec.ts'),
    );

    expect(service.filter((file) => opensSocket.test(textOf(file)))).toEqual([]);
  });
});

describe('the checks above', () => {
  it.each([
    ['src/utils/text.ts', true],
    ['src/http/helpers.ts', true],
    ['src/kernel/common.module.ts', true],
    ['src/bootstrap/data-source.ts', false],
    ['src/kernel/database/database.ts', false],
    ['src/modules/send/shared.store.ts', true],
  ])('%s: a meaningless name: %s', (file, found) => {
    expect(namesIn(file).some((name) => SAYS_NOTHING.has(name))).toBe(found);
  });
});
