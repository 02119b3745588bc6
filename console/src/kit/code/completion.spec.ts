import { type CodeCompletion, completedText, completionPlace, completionsAt } from './completion';
import { tokenize } from './tokens';

/** Returns the completion place at the character `|` in the text. */
function placeIn(marked: string) {
  const caret = marked.indexOf('|');
  const text = marked.replace('|', '');
  return { text, place: completionPlace(text, tokenize(text, 'json'), caret) };
}

const OFFERED: CodeCompletion[] = [
  { of: 'path', text: '$.type' },
  { of: 'path', text: '$.data.type' },
  { of: 'path', text: "$['it\\'s']" },
  { of: 'op', text: 'eq' },
  { of: null, text: 'path' },
];

describe('completion of JSON', () => {
  it.each([
    ['{"path": "|"}', 'path', ''],
    ['{"path": "$.t|x"}', 'path', '$.t'],
    ['{"path": "$.t|', 'path', '$.t'],
    ['{"path" : |}', 'path', ''],
    ['{"|"}', null, ''],
    ['{"op": "eq", "|', null, ''],
    ['{"op": "eq", |}', null, ''],
    ['{"pa|": 1}', null, 'pa'],
  ])('%s', (marked, of, typed) => {
    expect(placeIn(marked).place).toMatchObject({ of, typed });
  });

  it.each([['{"a": 1}|'], ['["|"]'], ['["a", |]'], ['{"a": 1|2}'], ['{"a": "b"|}'], ['|']])(
    '%s has no place',
    (marked) => {
      expect(placeIn(marked).place).toBeNull();
    },
  );

  it.each([
    ['{"path": "|"}', ['$.type', '$.data.type', "$['it\\'s']"]],
    ['{"path": "TYPE|"}', ['$.type', '$.data.type']],
    ['{"path": "$.d|"}', ['$.data.type']],
    ['{"op": "eq|"}', []],
    ['{"o|', []],
    ['{"p|', ['path']],
  ])('%s offers %j', (marked, texts) => {
    const { place } = placeIn(marked);

    expect(place && completionsAt(place, OFFERED).map(({ text }) => text)).toEqual(texts);
  });

  it.each([
    ['{"path": "$.t|x"}', '{"path": "$[\'it\\\\\'s\']"}'],
    ['{"path": |}', '{"path": "$[\'it\\\\\'s\']"}'],
    ['{"path": "$.t|', '{"path": "$[\'it\\\\\'s\']"'],
  ])('%s becomes %s', (marked, completed) => {
    const { text, place } = placeIn(marked);

    expect(place && text.slice(0, place.from) + completedText(place, "$['it\\'s']") + text.slice(place.to)).toBe(
      completed,
    );
  });
});
