import * as fc from 'fast-check';
import { filledIn, secretNames, templateFaults } from './header-templates.js';

const VALUES = new Map([
  ['TOKEN', 'tok_1'],
  ['USER', 'ann'],
  ['MULTILINE', 'a\r\nx-evil: 1'],
  ['SPACED', ' a'],
  ['LONG', 'x'.repeat(8000)],
]);

const LATE = `{{${' '.repeat(8000)}secrets.${' '.repeat(100)}`;

describe('secretNames', () => {
  it.each<[string, string[]]>([
    ['plain', []],
    ['{{secrets.TOKEN}}', ['TOKEN']],
    ['Bearer {{ secrets.TOKEN }}', ['TOKEN']],
    ['{{secrets.USER}}:{{\tsecrets.TOKEN}} {{secrets.USER}}', ['USER', 'TOKEN']],
    ['{{ body.id }}', []],
    ['{{secret.TOKEN}}', []],
    ['{secrets.TOKEN}', []],
    ['{{secrets.TOKEN}', []],
    ['{{secrets.}}', ['']],
    ['{{secrets.a-b}}', ['a-b']],
    ['{{{secrets.TOKEN}}}', ['TOKEN']],
    ['{{secrets.{{secrets.TOKEN}}', ['TOKEN']],
    [LATE, []],
  ])('of %j are %j', (value, names) => {
    expect(secretNames({ a: value })).toEqual(names);
  });
});

describe('filledIn', () => {
  it.each([
    ['plain', 'plain'],
    ['Bearer {{secrets.TOKEN}}', 'Bearer tok_1'],
    ['{{ secrets.USER }}:{{secrets.TOKEN}}', 'ann:tok_1'],
    ['{{ body.id }} {{secrets.TOKEN}}', '{{ body.id }} tok_1'],
    ['{{{secrets.TOKEN}}}', '{tok_1}'],
  ])('makes of %j %j', (template, value) => {
    expect(filledIn({ a: template }, VALUES)).toEqual({ a: value });
  });

  it.each(['{{secrets.TOKEN}}', '$&', '$1', '$$', '{{secrets.SELF}}'])('inserts the value %j literally', (value) => {
    expect(
      filledIn(
        { a: '<{{secrets.SELF}}>' },
        new Map([
          ['SELF', value],
          ['TOKEN', 'no'],
        ]),
      ),
    ).toEqual({ a: `<${value}>` });
  });

  it('handles a header named like a property of Object.prototype', () => {
    expect(
      Object.entries(filledIn(JSON.parse('{"__proto__": "{{secrets.TOKEN}}"}') as Record<string, string>, VALUES)),
    ).toEqual([['__proto__', 'tok_1']]);
  });

  it('changes nothing if secretNames finds nothing, and leaves no reference once all secrets are known', () => {
    const piece = fc.constantFrom('{{', '}}', '{', '}', 'secrets.', 'TOKEN', ' ', 'x', '.');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
        (template) => {
          const names = secretNames({ a: template });
          const filled = filledIn({ a: template }, new Map(names.map((name) => [name, '{'])));

          expect(filled['a'] === template).toBe(names.length === 0);
          expect(secretNames(filled)).toEqual([]);
        },
      ),
    );
  });
});

describe('templateFaults', () => {
  it.each<[Record<string, string>, string, RegExp]>([
    [{ 'x-a': 'Bearer {{secrets.NONE}}' }, 'headers.x-a', /^names the secret NONE, which does not exist$/],
    [{ 'x-a': '{{secrets.a-b}}' }, 'headers.x-a', /^names no secret$/],
    [{ 'x-a': '{{secrets.}}' }, 'headers.x-a', /^names no secret$/],
    [{ 'x-a': '{{secrets.MULTILINE}}' }, 'headers.x-a', /^can't hold the secret MULTILINE: .*visible/],
    [{ 'x-a': 'a{{secrets.SPACED}}b' }, 'headers.x-a', /^can't hold the secret SPACED: .*space/],
    [{ 'x-a': '{{secrets.LONG}}{{secrets.LONG}}' }, 'headers.x-a', /at most 8192 bytes/],
    [
      Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, '{{secrets.LONG}}'])),
      'headers',
      /at most 32768 bytes/,
    ],
  ])('reports the error in %j, at %s', (headers, path, message) => {
    expect(templateFaults(headers, VALUES)).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  it('reports nothing for valid headers', () => {
    expect(templateFaults({ a: 'Bearer {{secrets.TOKEN}}', b: '{{secrets.LONG}}', c: 'plain {{x}}' }, VALUES)).toEqual(
      [],
    );
  });

  it('reports every header, up to fifty, without any values', () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x-${i}`, `{{secrets.NONE_${i}}}`]));

    expect(
      templateFaults({ a: '{{secrets.NONE}}', b: '{{secrets.MULTILINE}}' }, VALUES).map(({ path }) => path),
    ).toEqual(['headers.a', 'headers.b']);
    expect(templateFaults(many, VALUES)).toHaveLength(50);
    expect(
      JSON.stringify(templateFaults({ a: '{{secrets.MULTILINE}}', b: '{{secrets.sk-live-1234}}' }, VALUES)),
    ).not.toMatch(/evil|sk-live/);
  });
});
