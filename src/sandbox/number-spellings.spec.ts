import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseSpelled, spellingsOf, writeExact } from '#engine/exact-json.js';
import { runGuest } from './guest.js';

const engine = new WebAssembly.Module(
  readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')),
);

/** Evaluates the expression on an event with the body. Returns its JSON, or the reason of the failure. */
async function returned(body: string, expression: string, resultBytesMax = 1_000): Promise<string | null> {
  const exact = parseSpelled(body);
  const { outcome } = await runGuest(
    engine,
    {
      code: `export default (event) => { const { body } = event; return ${expression} }`,
      args: [writeExact({ body: exact ?? (JSON.parse(body) as unknown) })],
      spellings: exact === undefined ? null : JSON.stringify(spellingsOf(exact)),
      timeoutMs: 5_000,
      sliceMs: null,
      resultBytesMax,
    },
    () => performance.now(),
  );
  if (outcome === 'overrun') throw new Error('The call has no slice.');
  return outcome.ok ? outcome.json : outcome.reason;
}

const IDS = '{"id":8202522731445525542,"price":1.10,"huge":1e400,"none":-0,"n":1E2}';
/** Two integers that JavaScript rounds to the same number. */
const [FIRST, SECOND] = ['8202522731445525542', '8202522731445525543'];
const ITEMS = `[{"id":${FIRST}},{"id":${SECOND}}]`;

describe('numbers that code does not change', () => {
  it.each([
    ['of a returned body', IDS, 'event', `{"body":${IDS}}`],
    ['of a copied body', IDS, '({ ...body, x: 1 })', `${IDS.slice(0, -1)},"x":1}`],
    ['with another name', IDS, '({ order: body.id, cost: body.price })', '{"order":8202522731445525542,"cost":1.10}'],
    ['of a body that is a number', FIRST, '({ ...event })', `{"body":${FIRST}}`],
    ['of a list', `[${FIRST},${SECOND},1.0]`, 'body', `[${FIRST},${SECOND},1.0]`],
    ['of a filtered list', ITEMS, 'body.filter((_, at) => at === 1)', `[{"id":${SECOND}}]`],
    ['of a reversed list', ITEMS, '[...body].reverse()', `[{"id":${SECOND}},{"id":${FIRST}}]`],
    [
      'of a changed object',
      IDS,
      '((body.x = 1), delete body.n, delete body.huge, delete body.none, body)',
      '{"id":8202522731445525542,"price":1.10,"x":1}',
    ],
    [
      'with the name __proto__',
      '{"__proto__":1.0,"a":{"__proto__":1.50}}',
      'body',
      '{"__proto__":1.0,"a":{"__proto__":1.50}}',
    ],
    [
      'with the name of a built-in',
      '{"constructor":1.0,"toString":[2.0]}',
      'body',
      '{"constructor":1.0,"toString":[2.0]}',
    ],
  ])('%s keep their spelling', async (_what, body, expression, json) => {
    expect(await returned(body, expression)).toBe(json);
  });

  it.each([
    [
      'a replaced number',
      IDS,
      '({ ...body, id: 1, price: 2.5, huge: null, none: 5, n: 1 })',
      '{"id":1,"price":2.5,"huge":null,"none":5,"n":1}',
    ],
    ['a computed zero or infinity', IDS, '({ zero: 0, minus: -0, all: [1 / 0] })', '{"zero":0,"minus":0,"all":[null]}'],
    ['a computed count', '{"price":2.0,"n":1E2}', '({ count: 2, all: [100] })', '{"count":2,"all":[100]}'],
    ['an inherited text', '{"a":1.0,"b":5}', '((Object.prototype.b = "0x5"), body)', '{"a":1.0,"b":5}'],
    ['a zero at the place of -0', IDS, '({ none: 0 })', '{"none":0}'],
    [
      'a number with two spellings',
      ITEMS,
      'body.map(({ id }) => ({ id }))',
      '[{"id":8202522731445526000},{"id":8202522731445526000}]',
    ],
    ['a text', '{"a":"1.10","b":1.10}', '({ a: body.a, b: String(body.b) })', '{"a":"1.10","b":"1.1"}'],
  ])('%s does not get the spelling of another number', async (_what, body, expression, json) => {
    expect(await returned(body, expression)).toBe(json);
  });

  it('keep their spelling if the code changes built-ins', async () => {
    const code = '((Map.prototype.get = Object.is = Number = JSON.stringify = () => { throw 1 }), body)';

    expect(await returned(IDS, code)).toBe(IDS);
  });

  it('count towards the limit of the result as they are written', async () => {
    const body = `[${Array(200).fill('1.0').join(',')}]`;

    expect(await returned(body, 'body', body.length)).toBe(body);
    expect(await returned(body, 'body', body.length - 1)).toBe('result_too_large');
  });

  it('keep their spelling only in a body of at most 20,000 values', () => {
    const body = (values: number): string =>
      `[${Array(values - 1)
        .fill('1.0')
        .join(',')}]`;

    expect(parseSpelled(body(20_000))).toHaveLength(19_999);
    expect(parseSpelled(body(20_001))).toBeUndefined();
  });

  it('do not stop code for a body that is nested deeply', async () => {
    const body = `${'['.repeat(600)}1.0${']'.repeat(600)}`;

    expect(JSON.parse((await returned(body, '[body]', 10_000)) ?? '')).toEqual([JSON.parse(body)]);
  });
});
