import { codeCompletions, fieldsOf, filterCompletions, type FilteredRequest } from './event-fields';

const REQUEST: FilteredRequest = { query: '', headers: [], body: '', body_encoding: 'text' };
const FORM = [['Content-Type', 'application/x-www-form-urlencoded']];

const shownOf = (request: Partial<FilteredRequest>): string[] =>
  fieldsOf({ ...REQUEST, ...request }).map(({ type, of, sample }) => `${type} ${of} ${sample}`);

describe('fieldsOf', () => {
  it.each<[Partial<FilteredRequest>, string[]]>([
    [{ body: '{"a":{"b":1},"c":"x"}' }, ['json $.a.b 1', 'json $.c x']],
    [{ body: '{"items":[{"id":1},{"id":2,"sku":null}]}' }, ['json $.items[*].id 1', 'json $.items[*].sku null']],
    [{ body: `{"it's":1,"a b":true}` }, ["json $['it\\'s'] 1", "json $['a b'] true"]],
    [{ body: '"text"' }, ['json $ text']],
    [{ body: '[12345678901234567890, 1.10]' }, ['json $[*] 12345678901234567890']],
    [{ body: 'no JSON' }, []],
    [{ body: 'e30=', body_encoding: 'base64' }, []],
    [
      {
        headers: [
          ['X-A', '1'],
          ['x-a', '2'],
        ],
      },
      ['header x-a 1'],
    ],
    [{ query: 'to=1&to=2&from=3' }, ['query to 1', 'query from 3']],
    [
      { headers: FORM, body: 'payload=%7B%22a%22%3A1%7D&token=x' },
      ['json $.a 1', `header content-type ${FORM[0]?.[1]}`, 'form payload {"a":1}', 'form token x'],
    ],
  ])('%j', (request, expected) => {
    expect(shownOf(request)).toEqual(expected);
  });

  it('a body with very many members has a limited number of fields', () => {
    const body = JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`m${i}`, i])));

    expect(shownOf({ body })).toHaveLength(300);
  });

  it('a deeply nested body has no fields', () => {
    expect(shownOf({ body: '['.repeat(1_000) + ']'.repeat(1_000) })).toEqual([]);
  });
});

describe('filterCompletions', () => {
  it('a path completes `path`, and a header `name`', () => {
    const completions = filterCompletions(fieldsOf({ ...REQUEST, headers: [['x-a', '1']], body: '{"a":1}' }));

    expect(completions).toContainEqual({ of: 'path', text: '$.a', detail: '1' });
    expect(completions).toContainEqual({ of: 'name', text: 'x-a', detail: '1' });
    expect(completions).toContainEqual({ of: 'op', text: 'starts_with' });
    expect(completions).not.toContainEqual({ of: null, text: 'respond' });
  });
});

describe('codeCompletions', () => {
  const expressionsOf = (request: Partial<FilteredRequest>): string[] =>
    codeCompletions(fieldsOf({ ...REQUEST, ...request })).map(({ text }) => text);

  it('fields of the request are expressions', () => {
    const body = `{"items": [{"it's": 1}]}`;

    expect(expressionsOf({ body, headers: [['X-A', '1']], query: 'to=1' })).toEqual(
      expect.arrayContaining([
        'event.event_type',
        "event.body.items[0]['it\\'s']",
        "event.headers['x-a']",
        'event.query.to',
      ]),
    );
  });

  it('the JSON in a form is not a part of the body', () => {
    const texts = expressionsOf({ headers: FORM, body: 'payload=%7B%22a%22%3A1%7D' });

    expect(texts).toContain('event.form.payload');
    expect(texts).not.toContain('event.body.a');
  });
});
