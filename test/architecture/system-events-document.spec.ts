import { CATALOGUE } from '../../src/modules/system-events/catalogue.js';
import { textOf } from './source-tree.js';

describe('docs/system-events.md', () => {
  const text = textOf('docs/system-events.md');
  const rows = text.split('\n').filter((line) => /^\| `/.test(line));

  it('has a row for every type with the text of the catalogue, and no other', () => {
    expect(rows).toEqual(CATALOGUE.map(({ type, description }) => `| \`${type}\` | ${description} |`));
  });

  it('shows an example from the catalogue', () => {
    const [, example = ''] = /```json\n(.+?)\n```/s.exec(text) ?? [];

    expect(JSON.parse(example)).toEqual(CATALOGUE.find(({ type }) => type === 'event.dead_lettered')?.example);
  });
});
