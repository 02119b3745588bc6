import { PRESETS } from '../../src/engine/inbound/presets.js';
import { textOf } from './source-tree.js';

describe('docs/presets.md', () => {
  const rows = textOf('docs/presets.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));

  it('has a row for every preset, and no other', () => {
    expect(rows.map((row) => /^\| `([^`]+)`/.exec(row)?.[1])).toEqual([...PRESETS.keys()]);
  });

  it.each([...PRESETS.values()].map((preset) => [preset.id, preset] as const))(
    "%s: the row matches the preset's data",
    (_id, { id, title, secret, response, retry, urlCheck }) => {
      const row = rows.find((line) => line.startsWith(`| \`${id}\` |`));

      expect(row).toContain(title);
      expect(row).toContain(secret);
      expect(row).toContain(retry.note);
      expect(row?.split('|')[4]?.includes('HEAD or GET: 200')).toBe(urlCheck !== undefined);
      expect(row?.includes('`static`') || /`[a-z]+-[a-z]+`/.test(row?.split('|')[4] ?? '')).toBe(response !== null);
    },
  );
});
