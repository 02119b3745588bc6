import { ANSWER_FAULTS } from '#egress/answer-faults.js';
import { textOf } from './source-tree.js';

describe('docs/concepts.md', () => {
  it('lists the text of every answer fault, and no other', () => {
    const [, table = ''] =
      /\n\| the answer is refused because \| [^\n]*\n\|---[^\n]*\n((?:\|[^\n]*\n)*)/.exec(textOf('docs/concepts.md')) ??
      [];
    const listed = [...table.matchAll(/^\| (.*?) \|/gm)].map(([, sentence]) => sentence);

    expect(listed).toEqual(Object.values(ANSWER_FAULTS));
  });
});
