import { type CodeCompletion, completedText, completionPlace, completionsAt, offeredAt } from './completion';

/** Returns the completion place at the character `|` in the text. */
function placeIn(marked: string) {
  const caret = marked.indexOf('|');
  const text = marked.replace('|', '');
  return { text, place: completionPlace(text, caret) };
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
    ['{"pa|\n"op": 1}', null, 'pa'],
    ['[{"all": [{"path": "$.|"}]}]', 'path', '$.'],
  ])('%s', (marked, of, typed) => {
    expect(placeIn(marked).place).toMatchObject({ of, typed });
  });

  it.each([
    ['{"a": 1}|'],
    ['["|"]'],
    ['["a", |]'],
    ['{"a": 1|2}'],
    ['{"a": "b"|}'],
    ['{"a": 1 |}'],
    ['{"a": x |}'],
    ['|'],
  ])('%s has no place', (marked) => {
    expect(placeIn(marked).place).toBeNull();
  });

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

describe('completion of code and templates', () => {
  const completions = ['event.body.id', 'event.body.name', 'name'].map((text) => ({ of: null, text }));
  const offered = (language: 'javascript' | 'html', marked: string, isExplicit: boolean) => {
    const caret = marked.indexOf('|');
    const text = marked.replace('|', '');
    const found = offeredAt(language, { text, caret, isExplicit }, completions);
    return found?.options.map(({ apply }) => text.slice(0, found.from) + apply + text.slice(found.to)) ?? null;
  };

  it.each<['javascript' | 'html', string, boolean, string[] | null]>([
    ['javascript', 'return event.body.n|;', false, ['return event.body.name;']],
    ['javascript', 'f(event.|)', false, ['f(event.body.id)', 'f(event.body.name)']],
    ['javascript', 'return ev|', false, null],
    ['javascript', 'return n|', true, ['return name']],
    ['javascript', 'return event.other|', false, null],
    ['html', '<a href="{{n|">', false, ['<a href="{{name}}">']],
    ['html', '{{{ na|', false, ['{{{ name}}}']],
    ['html', '{{n|}}', false, ['{{name}}']],
    ['html', '{{name|}}', false, null],
    ['html', '{ n|', true, null],
  ])('%s: %s', (language, marked, isExplicit, texts) => {
    expect(offered(language, marked, isExplicit)).toEqual(texts);
  });
});
