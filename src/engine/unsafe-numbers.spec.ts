import fc from 'fast-check';
import { compareDecimals } from './decimals.js';
import { isUnsafe, unsafeNumbers } from './unsafe-numbers.js';

const NONE: ReadonlySet<string> = new Set();
const pathsIn = (text: string, kept = NONE): string[] => unsafeNumbers(text, kept).map(({ path }) => path);

describe('a number', () => {
  it.each<[string, string]>([
    [
      '9007199254740993',
      '9007199254740993 would be stored as 9007199254740992: write it as a string, or with fewer digits',
    ],
    [
      '12345678901234567890',
      '12345678901234567890 would be stored as 12345678901234567000: write it as a string, or with fewer digits',
    ],
    [
      '-12345678901234567890',
      '-12345678901234567890 would be stored as -12345678901234567000: write it as a string, or with fewer digits',
    ],
    [
      '1.00000000000000000001',
      '1.00000000000000000001 would be stored as 1: write it as a string, or with fewer digits',
    ],
    [
      '0.12345678901234567890',
      '0.12345678901234567890 would be stored as 0.12345678901234568: write it as a string, or with fewer digits',
    ],
    [
      '9007199254740993e0',
      '9007199254740993e0 would be stored as 9007199254740992: write it as a string, or with fewer digits',
    ],
    ['1e-400', '1e-400 would be stored as 0: write it as a string, or with fewer digits'],
    ['1e400', '1e400 is larger than any number that is stored: write it as a string'],
    ['-1E+400', '-1E+400 is larger than any number that is stored: write it as a string'],
    [`1${'0'.repeat(400)}`, `1${'0'.repeat(59)}… is larger than any number that is stored: write it as a string`],
    [`1e${'9'.repeat(100_000)}`, `1e${'9'.repeat(58)}… is larger than any number that is stored: write it as a string`],
  ])('%.40s is reported with its stored value', (number, message) => {
    expect(unsafeNumbers(`{"a":${number}}`, NONE)).toEqual([{ path: 'a', message }]);
  });

  it.each([
    '0',
    '-0',
    '-0.0',
    '0e400',
    `0e${'9'.repeat(100_000)}`,
    '9007199254740991',
    '9007199254740992',
    '12345678901234567000',
    '1e22',
    '1E+2',
    '1.10',
    '100.0000000000000000000',
    '0.1',
    '0.30000000000000004',
    '1.7976931348623157e308',
    '5e-324',
    '123456789012345e9',
  ])('%.40s is the same', (number) => {
    expect(unsafeNumbers(`{"a":${number}}`, NONE)).toEqual([]);
  });

  it('is safe exactly if JavaScript writes the same number', () => {
    const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 24 }).map((all) => all.join(''));
    const number = fc
      .tuple(fc.constantFrom('', '-'), digits, fc.option(digits), fc.option(fc.integer({ min: -340, max: 320 })))
      .map(
        ([sign, whole, part, power]) =>
          `${sign}${whole.replace(/^0+(?=\d)/, '')}${part === null ? '' : `.${part}`}${power === null ? '' : `e${power}`}`,
      );

    fc.assert(
      fc.property(number, (text) => {
        const kept = JSON.parse(text) as number;
        const isSame = Number.isFinite(kept) && compareDecimals(JSON.stringify(kept), text) === 0;

        expect(isUnsafe(text)).toBe(!isSame);
        expect(pathsIn(`{"a":${text}}`)).toEqual(isSame ? [] : ['a']);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the position of an unsafe number', () => {
  it.each<[string, string, string[]]>([
    ['deep inside', '{"a":{"b":[0,{"c":9007199254740993}]}}', ['a.b.1.c']],
    ['several', '{"a":[9007199254740993,1,[9007199254740993]],"b":9007199254740993}', ['a.0', 'a.2.0', 'b']],
    ['with white space', ' {\n "a" :\t[ 1 ,\r\n 9007199254740993 ] } ', ['a.1']],
    [
      'after strings that look like JSON',
      '{"a\\"}]":"[{\\\\","b":"\\\\\\"9007199254740993","c":9007199254740993}',
      ['c'],
    ],
    ['after literals and empty values', '{"a":[true,false,null,{},[],""],"b":{"c":9007199254740993}}', ['b.c']],
    ['in a list of lists', '{"a":[[],[[9007199254740993]]]}', ['a.1.0.0']],
    ['under an escaped name', '{"\\u0061":9007199254740993}', ['a']],
    ['as a string', '{"a":"9007199254740993","9007199254740993":1}', []],
    ['in the first of two members with the same name', '{"a":9007199254740993,"a":1}', []],
    ['in the last of two members with the same name', '{"a":1,"\\u0061":9007199254740993}', ['a']],
    ['in an object that another object replaces', '{"a":{"b":[9007199254740993]},"a":{"c":9007199254740993}}', ['a.c']],
    ['in an object that a literal replaces', '{"x":{"a":{"b":9007199254740993},"a":null}}', []],
    [
      'in a member that is kept as sent',
      '{"payload":{"a":[9007199254740993]},"b":{"payload":9007199254740993}}',
      ['b.payload'],
    ],
    ['after a member that is kept as sent', '{"payload":9007199254740993,"b":9007199254740993}', ['b']],
  ])('%s', (_, text, paths) => {
    expect(pathsIn(text, new Set(['payload']))).toEqual(paths);
  });

  it('is found in any JSON text', () => {
    const key = fc.string({ maxLength: 4 }).filter((name) => name !== '__proto__');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue({ maxDepth: 1 }),
        fc.constant('LOST'),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
      ),
    }));

    fc.assert(
      fc.property(fc.dictionary(key, tree, { maxKeys: 4 }), fc.constantFrom(undefined, 1), (value, indent) => {
        const paths: string[] = [];
        const walk = (inner: unknown, path: string[]): void => {
          if (inner === 'LOST') paths.push(path.join('.'));
          else if (typeof inner === 'object' && inner !== null)
            for (const [name, each] of Object.entries(inner)) walk(each, [...path, name]);
        };
        walk(JSON.parse(JSON.stringify(value)), []);
        fc.pre(paths.length <= 20);
        const text = JSON.stringify(value, null, indent).replaceAll(/(?<=[:[,\s])"LOST"(?!:)/g, '9007199254740993');

        expect(pathsIn(text).sort()).toEqual(paths.sort());
      }),
      { numRuns: 500 },
    );
  });

  it('reports at most twenty faults', () => {
    const many = `{"a":[${Array<string>(10_000).fill('9007199254740993').join(',')}],"b":9007199254740993}`;

    expect(pathsIn(many)).toHaveLength(20);
  });

  it('needs no stack for any depth, and cuts a long path at the start', () => {
    const depth = 50_000;
    const deep = `{"a":${'[9007199254740993,'.repeat(depth / 4)}${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}${']'.repeat(depth / 4)}}`;

    expect(pathsIn(deep)).toHaveLength(20);
    expect(pathsIn(`{"a":${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}}`)).toEqual([
      expect.stringMatching(/^[.0]{500}$/),
    ]);
  });
});
