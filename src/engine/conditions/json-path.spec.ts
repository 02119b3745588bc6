import fc from 'fast-check';
import { jsonpath } from 'json-p3';
import { compileJsonPath } from './json-path.js';
import { RequestView } from './request-view.js';

function viewOf(body: string): RequestView {
  return new RequestView(
    {
      method: 'POST',
      path: '',
      query: '',
      headers: [],
      body: Buffer.from(body),
      url: 'https://in.example/',
      ip: '::1',
    },
    'none',
  );
}

function first(path: string, document: unknown): unknown {
  const compiled = compileJsonPath(path);
  if (typeof compiled === 'string') throw new Error(compiled);
  return compiled.first(viewOf(JSON.stringify(document)));
}

const number = fc.integer({ min: -6, max: 6 });
const part = fc.option(number, { nil: '' });
const segment = fc.oneof(
  fc.constantFrom('.a', '.b', "['a']", '["b c"]', '[*]', '.*'),
  number.map((index) => `[${index}]`),
  fc.tuple(part, part, part).map(([start, stop, step]) => `[${start}:${stop}:${step}]`),
);
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `$${segments.join('')}`);
const document = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, 0, 'x', true),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'b c', '0'), tie('value')),
  ),
})).value;

describe('a JSONPath', () => {
  it('finds the same first node as json-p3, which passes the compliance suite of RFC 9535', () => {
    fc.assert(
      fc.property(path, document, (text, value) => {
        const json = JSON.parse(JSON.stringify(value));

        expect(first(text, json)).toEqual(jsonpath.query(text, json).values()[0]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds the same nodes as json-p3, in the same order', () => {
    fc.assert(
      fc.property(path, document, (text, value) => {
        const json = JSON.parse(JSON.stringify(value));
        const compiled = compileJsonPath(text);

        expect(typeof compiled === 'string' ? compiled : compiled.all(viewOf(JSON.stringify(json)))).toEqual(
          jsonpath.query(text, json).values(),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['$..a', '$..*', '$[?@.a]', '$[?length(@.a) > 1]', '$[0,1]', '$["a","b"]', '$[*,*]', '$.a[?search(@, "x")]'])(
    'refuses %s',
    (text) => {
      expect(compileJsonPath(text)).toEqual(
        expect.stringMatching(/^can only use names, indexes, slices and wildcards/),
      );
    },
  );

  it.each([
    '',
    'a',
    ' $',
    '$ ',
    '$.',
    '$.0',
    '$[',
    '$[01]',
    '$[a]',
    '$[9007199254740992]',
    '@.a',
    `$${'['.repeat(1_000)}`,
    `$[?${'('.repeat(1_000)}`,
  ])('rejects %.20j, which is no supported path', (text) => {
    expect(compileJsonPath(text)).toEqual(expect.stringMatching(/^must be a JSONPath/));
  });

  it('visits every node at most once, however many wildcards there are', () => {
    const view = viewOf(JSON.stringify(Array.from({ length: 7_000 }, () => [[0]])));
    const compiled = compileJsonPath(`$${'[*]'.repeat(300)}`);

    expect(typeof compiled === 'string' ? compiled : compiled.first(view)).toBeUndefined();
    expect(view.isExhausted).toBe(false);
  });
});
