import fc from 'fast-check';
import { unicodeText } from '../../../test/support/unicode-text.js';
import type { ReceivedRequest, Verification } from '../inbound/request.js';
import { compileCondition, compileFilter } from './condition.js';
import { RequestView, StepAllowance } from './request-view.js';

const JSON_BODY =
  '{"type":"order.paid","n":10,"f":1.5,"t":true,"z":null,"big":1e21,"o":{"a":[1,{"b":"deep"}]},"s":"10","e":"","__proto__":"p"}';

function view(
  changes: Partial<ReceivedRequest> & { text?: string } = {},
  by: Verification | number = 'verified',
): RequestView {
  const { text = JSON_BODY, ...request } = changes;
  const [verification, allowance] =
    typeof by === 'number' ? (['verified', new StepAllowance(by)] as const) : [by, undefined];
  return new RequestView(
    {
      method: 'POST',
      path: '/orders%2Fnew/%C3%A9',
      query: 'a=1&b=x%20y&a=2&empty=',
      headers: [
        ['content-type', 'application/JSON; charset=utf-8'],
        ['x-topic', 'one'],
        ['x-topic', 'two'],
      ],
      body: Buffer.from(text),
      url: 'https://in.example/in/org/orders',
      ip: '203.0.113.7',
      ...request,
    },
    verification,
    { allowance },
  );
}

function holds(when: unknown, on = view()): boolean {
  const compiled = compileCondition(when, 'when');
  if ('faults' in compiled) throw new Error(JSON.stringify(compiled.faults));
  return compiled.condition.matches(on);
}

function faults(when: unknown): string[] {
  const compiled = compileCondition(when, 'when');
  return 'faults' in compiled ? compiled.faults.map(({ path, message }) => `${path}: ${message}`) : [];
}

const formView = (): RequestView =>
  view({
    headers: [['content-type', 'application/x-www-form-urlencoded']],
    text: 'a=1&b=x+y%21&a=2&payload=%7B%22k%22%3A1%7D',
  });

const leaf = (type: string, op: string, value: string, more: object = {}): object => ({ type, op, value, ...more });
const json = (path: string, op: string, value?: string): object => ({
  type: 'json',
  path,
  op,
  ...(value === undefined ? {} : { value }),
});

describe('a leaf by type', () => {
  const types: [name: string, leaf: object, value: string, on: () => RequestView][] = [
    ['json', { type: 'json', path: '$.type' }, 'order.paid', view],
    ['body', { type: 'body' }, JSON_BODY, view],
    ['header', { type: 'header', name: 'Content-Type' }, 'application/JSON; charset=utf-8', view],
    ['query', { type: 'query', name: 'b' }, 'x y', view],
    ['form', { type: 'form', name: 'b' }, 'x y!', formView],
    ['method', { type: 'method' }, 'POST', view],
    ['path', { type: 'path' }, '/orders/new/é', view],
    ['content_type', { type: 'content_type' }, 'application/json', view],
    ['verification', { type: 'verification' }, 'verified', view],
  ];

  it.each(types)('%s: every op', (name, type, value, on) => {
    const ask = (op: string, text?: string): boolean =>
      holds({ ...type, op, ...(text === undefined ? {} : { value: text }) }, on());
    const other = name === 'verification' ? 'failed' : 'other';
    const escaped = value.replace(/[^\w]/gu, '\\$&').replace('\\é', 'é');

    expect([ask('eq', value), ask('eq', other)]).toEqual([true, false]);
    expect([ask('ne', value), ask('ne', other)]).toEqual([false, true]);
    if (!value.includes(',')) expect([ask('in', `${other}, ${value}`), ask('in', `${other},`)]).toEqual([true, false]);
    expect([ask('contains', value.slice(1, -1)), ask('contains', '~')]).toEqual([true, false]);
    expect([ask('starts_with', value.slice(0, 2)), ask('starts_with', '~')]).toEqual([true, false]);
    expect([ask('ends_with', value.slice(-2)), ask('ends_with', '~')]).toEqual([true, false]);
    expect([ask('matches', `^${escaped}$`), ask('matches', '^~')]).toEqual([true, false]);
    expect([ask('exists'), ask('absent')]).toEqual([true, false]);
    for (const op of ['gt', 'gte', 'lt', 'lte']) expect(ask(op, '1')).toBe(false);
  });

  it.each([
    ['json', { type: 'json', path: '$.missing' }],
    ['header', { type: 'header', name: 'x-none' }],
    ['query', { type: 'query', name: 'none' }],
    ['form', { type: 'form', name: 'a' }],
  ])('%s: a missing value fails every op but ne and absent', (_name, type) => {
    for (const op of ['eq', 'in', 'contains', 'starts_with', 'ends_with', 'matches', 'gt', 'gte', 'lt', 'lte']) {
      expect(holds({ ...type, op, value: op === 'matches' ? '' : '0' })).toBe(false);
    }
    expect([
      holds({ ...type, op: 'exists' }),
      holds({ ...type, op: 'absent' }),
      holds({ ...type, op: 'ne', value: '0' }),
    ]).toEqual([false, true, true]);
  });

  it.each([
    ['gt', '9', true],
    ['gt', '10', false],
    ['gte', '10.0', true],
    ['gte', '10.01', false],
    ['lt', '1e2', true],
    ['lt', '-1', false],
    ['lte', '10', true],
    ['lte', '9.99', false],
  ])('numbers: 10 is %s %s: %s', (op, value, expected) => {
    expect([holds(json('$.n', op, value)), holds(json('$.s', op, value))]).toEqual([expected, expected]);
  });

  it.each(['$.type', '$.t', '$.z', '$.e', '$.o'])('numbers: %s is none', (path) => {
    expect([holds(json(path, 'gt', '-1')), holds(json(path, 'lte', '1e300'))]).toEqual([false, false]);
  });

  it.each([
    ['$.n', '10'],
    ['$.f', '1.5'],
    ['$.t', 'true'],
    ['$.z', 'null'],
    ['$.e', ''],
    ['$.o.a[1].b', 'deep'],
    ['$.o.a', '[1,{"b":"deep"}]'],
    ['$.o.a[-1].b', 'deep'],
    ['$.o.a[*].b', 'deep'],
    ['$.o.a[0:1]', '1'],
    ['$["type"]', 'order.paid'],
    ['$.*', 'order.paid'],
    ['$.__proto__', 'p'],
    ['$', JSON_BODY],
  ])('json: %s is %s', (path, value) => {
    expect(holds(json(path, 'eq', value))).toBe(true);
  });

  describe("numbers that JavaScript can't hold", () => {
    const on = (): RequestView =>
      view({
        text: '{"id":9007199254740993,"list":[{"id":1},{"id":18446744073709551615}],"low":-9007199254740993,"rate":0.12345678901234567}',
      });

    it.each([
      ['$.id', 'eq', '9007199254740993', true],
      ['$.id', 'eq', '9007199254740992', false],
      ['$.id', 'ne', '9007199254740992', true],
      ['$.id', 'in', '1, 9007199254740993', true],
      ['$.id', 'in', '9007199254740992,9007199254740994', false],
      ['$.id', 'gt', '9007199254740992', true],
      ['$.id', 'gt', '9007199254740993', false],
      ['$.id', 'gte', '9007199254740993', true],
      ['$.id', 'lt', '9007199254740994', true],
      ['$.id', 'lte', '9007199254740992', false],
      ['$.low', 'lt', '-9007199254740992', true],
      ['$.id', 'ends_with', '993', true],
      ['$.list[1].id', 'eq', '18446744073709551615', true],
      ['$.rate', 'eq', '0.12345678901234567', true],
      ['$.rate', 'gt', '0.12345678901234566', true],
      ['$.list', 'contains', ':18446744073709551615}', true],
      ['$.id.x', 'exists', undefined, false],
      ['$.id[0]', 'exists', undefined, false],
    ])('%s %s %s: %s', (path, op, value, expected) => {
      expect(holds(json(path, op, value), on())).toBe(expected);
    });
  });

  it.each([
    ['$.items[*].sku', 'eq', 'b', true],
    ['$.items[*].sku', 'eq', 'c', true],
    ['$.items[*].sku', 'eq', 'd', false],
    ['$.items[*].sku', 'in', 'x,b', true],
    ['$.items[*].n', 'gt', '2', true],
    ['$.items[*].n', 'gt', '3', false],
    ['$.items[1:].sku', 'eq', 'c', true],
    ['$.items[1:].sku', 'eq', 'a', false],
    ['$.*[*].sku', 'starts_with', 'c', true],
    ['$.items[*].sku', 'ne', 'a', true],
    ['$.items[*].none', 'ne', 'a', true],
    ['$.items[*].none', 'absent', undefined, true],
    ['$.items[*].only', 'exists', undefined, true],
    ['$.items[*].only', 'absent', undefined, false],
  ])('a wildcard matches when any node does: %s %s %s: %s', (path, op, value, expected) => {
    const on = view({ text: '{"items":[{"sku":"a","n":1},{"sku":"b","n":3},{"sku":"c","n":2,"only":null}]}' });

    expect(holds(json(path, op, value), on)).toBe(expected);
  });

  it('a not around eq says that none of several nodes matches', () => {
    const on = view({ text: '{"items":[{"sku":"a"},{"sku":"b"}]}' });

    expect([
      holds({ not: json('$.items[*].sku', 'eq', 'b') }, on),
      holds({ not: json('$.items[*].sku', 'eq', 'c') }, on),
    ]).toEqual([false, true]);
  });

  it.each(['$.toString', '$.o.constructor', '$.o.a.length', '$.type[0]', '$.n.x', '$.o.a[9]', '$.z.x', '$.e.length'])(
    'json: %s is missing',
    (path) => {
      expect(holds(json(path, 'absent'))).toBe(true);
    },
  );

  it.each([
    ['eq', '203.0.113.7', true],
    ['eq', '203.0.113.0/24', true],
    ['eq', '203.0.113.8', false],
    ['ne', '203.0.113.0/24', false],
    ['ne', '198.51.100.0/24', true],
    ['in', '2001:db8::/32, 203.0.113.4/30', true],
    ['in', '2001:db8::/32,198.51.100.1', false],
    ['in', '::/0', false],
  ])('ip: %s %s: %s', (op, value, expected) => {
    expect(holds(leaf('ip', op, value))).toBe(expected);
    expect(holds(leaf('ip', op, value), view({ ip: '::ffff:203.0.113.7' }))).toBe(expected);
  });

  it('ip: an invalid address counts as missing', () => {
    const nobody = view({ ip: 'unix:' });

    expect([holds(leaf('ip', 'in', '0.0.0.0/0,::/0'), nobody), holds(leaf('ip', 'ne', '::1'), nobody)]).toEqual([
      false,
      true,
    ]);
    expect([holds({ type: 'ip', op: 'absent' }, nobody), holds({ type: 'ip', op: 'exists' })]).toEqual([true, true]);
    expect([
      holds(leaf('ip', 'eq', '2001:DB8:0::1'), view({ ip: '2001:db8::1' })),
      holds(leaf('ip', 'eq', '::1'), view({ ip: '127.0.0.1' })),
    ]).toEqual([true, false]);
  });

  it('method and content type are compared case-insensitively', () => {
    expect([holds(leaf('method', 'in', 'get,post')), holds(leaf('content_type', 'ends_with', '/JSON'))]).toEqual([
      true,
      true,
    ]);
  });

  it("a path that can't be decoded is compared as sent", () => {
    expect(holds(leaf('path', 'eq', '/%zz%41'), view({ path: '/%zz%41' }))).toBe(true);
  });

  it.each([
    ['query', 'a', '1', '2', view],
    ['form', 'a', '1', '2', formView],
    ['header', 'x-topic', 'one', 'two', view],
  ])('%s: any value of a repeated name may match', (type, name, first, second, on) => {
    const ask = (op: string, value: string): boolean => holds(leaf(type, op, value, { name }), on());

    expect([ask('eq', first), ask('eq', second), ask('eq', `${first}, ${second}`)]).toEqual([true, true, false]);
    expect([ask('ne', first), ask('ne', 'other')]).toEqual([true, true]);
    expect(holds({ not: leaf(type, 'eq', second, { name }) }, on())).toBe(false);
  });

  it('an empty value is present', () => {
    expect([
      holds({ type: 'query', name: 'empty', op: 'exists' }),
      holds({ type: 'body', op: 'exists' }, view({ text: '' })),
    ]).toEqual([true, false]);
  });
});

describe('a body', () => {
  const at = (size: number): string => `{"a":"${'x'.repeat(size - 8)}"}`;

  it('a body is JSON up to 128 KB, and its text is the first 128 KB', () => {
    expect([
      holds(json('$.a', 'exists'), view({ text: at(131_072) })),
      holds(json('$.a', 'exists'), view({ text: at(131_073) })),
    ]).toEqual([true, false]);
    expect(holds(leaf('body', 'contains', '"a":'), view({ text: at(200_000) }))).toBe(true);
    expect(holds(leaf('body', 'ends_with', '}'), view({ text: at(200_000) }))).toBe(false);
    expect(holds(leaf('body', 'contains', '\ufffd'), view({ text: `x${'é'.repeat(70_000)}` }))).toBe(false);
  });

  it.each([
    ['text', 'hello'],
    ['an open object', '{"a":1'],
    ['nothing', ''],
    ['10,000 deep', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['open brackets', '['.repeat(131_072)],
    ['open objects', '{"a":'.repeat(20_000)],
  ])('a body of %s is not JSON', (_what, text) => {
    const on = view({ text });

    expect([on.json, on.json]).toEqual([undefined, undefined]);
    expect(holds(json('$', 'exists'), on)).toBe(false);
  });

  it('a body that is not UTF-8 is not JSON', () => {
    expect(view({ body: Buffer.from([0x22, 0xff, 0x22]) }).json).toBeUndefined();
  });

  it('a body with 512 levels is JSON, and brackets in strings do not count as levels', () => {
    expect(holds(json(`$${'[0]'.repeat(300)}`, 'exists'), view({ text: `${'['.repeat(512)}${']'.repeat(512)}` }))).toBe(
      true,
    );
    expect(
      holds(json('$.a', 'starts_with', '[["'), view({ text: JSON.stringify({ a: `[["\\${'['.repeat(1_000)}` }) })),
    ).toBe(true);
  });

  it('is parsed once', () => {
    const on = view();

    expect(on.json).toBe(on.json);
    expect(on.json).toMatchObject({ n: 10 });
  });
});

describe('a form', () => {
  const payload = (value: unknown): string => new URLSearchParams({ payload: JSON.stringify(value) }).toString();
  const urlEncoded = (text: string): RequestView =>
    view({ headers: [['content-type', 'application/x-www-form-urlencoded']], text });
  const multipart = async (fill: (form: FormData) => void): Promise<RequestView> => {
    const form = new FormData();
    fill(form);
    const response = new Response(form);
    return view({
      headers: [['content-type', response.headers.get('content-type') ?? '']],
      body: Buffer.from(await response.arrayBuffer()),
    });
  };

  it('json reads the JSON in payload, also in filters, up to 128 KB', () => {
    const filter = compileFilter({ path: '$.action', op: 'eq', value: 'opened' }, 'filter');
    if ('faults' in filter) throw new Error(JSON.stringify(filter.faults));
    const big = (size: number): RequestView =>
      urlEncoded(payload({ action: 'opened', text: '"'.repeat((size - '{"action":"opened","text":""}'.length) / 2) }));

    expect(filter.condition.matches(urlEncoded(payload({ action: 'opened' })))).toBe(true);
    expect(filter.condition.matches(urlEncoded(`a=1&${payload({ action: 'opened' })}&b=2`))).toBe(true);
    expect(filter.condition.matches(urlEncoded(payload({ action: 'closed' })))).toBe(false);
    expect(filter.condition.matches(urlEncoded('payload=opened'))).toBe(false);
    expect([filter.condition.matches(big(131_071)), filter.condition.matches(big(131_073))]).toEqual([true, false]);
  });

  it('form and json read the fields of a multipart form, but not its files', async () => {
    const on = await multipart((form) => {
      form.append('to', 'a@example.com');
      form.append('attachment1', new Blob(['x'.repeat(300_000)]), 'a.txt');
      form.append('to', 'b@example.com');
      form.append('payload', '{"event":"media.play"}');
    });

    expect(holds(leaf('form', 'eq', 'b@example.com', { name: 'to' }), on)).toBe(true);
    expect(holds({ type: 'form', name: 'attachment1', op: 'exists' }, on)).toBe(false);
    expect(holds(json('$.event', 'eq', 'media.play'), on)).toBe(true);
  });

  it('has at most 1,000 fields and 384 KB, or 128 KB of multipart fields', async () => {
    const last = { type: 'form', name: 'last', op: 'exists' };
    const fields = (count: number): string => `${'a&'.repeat(count - 1)}last=1`;
    const large = (count: number): Promise<RequestView> =>
      multipart((form) => {
        for (let i = 0; i < count; i += 1) form.append('a', 'x'.repeat(40_000));
        form.append('last', '1');
      });

    expect([holds(last, urlEncoded(fields(1_000))), holds(last, urlEncoded(fields(1_001)))]).toEqual([true, false]);
    expect(holds(last, urlEncoded(`a=${'x'.repeat(393_200)}&last=1`))).toBe(true);
    expect(holds(last, urlEncoded(`a=${'x'.repeat(393_210)}&last=1`))).toBe(false);
    expect([holds(last, await large(3)), holds(last, await large(4))]).toEqual([true, false]);
  });
});

describe('all, any, not', () => {
  const yes = json('$.n', 'exists');
  const no = json('$.n', 'absent');

  it.each([
    [{ all: [yes, yes] }, true],
    [{ all: [yes, no] }, false],
    [{ any: [no, yes] }, true],
    [{ any: [no, no] }, false],
    [{ not: no }, true],
    [{ not: { all: [yes, { any: [no, { not: yes }] }] } }, true],
  ])('%j is %s', (when, expected) => {
    expect(holds(when)).toBe(expected);
  });
});

describe('faults', () => {
  it.each([
    [null, 'when: must be an object with one of all, any, not, or with type and op'],
    [[], 'when: must be an object with one of all, any, not, or with type and op'],
    [{}, 'when.type: must be one of json, body, header'],
    [{ all: [] }, 'when.all: must be a list of at least one condition'],
    [{ any: {} }, 'when.any: must be a list of at least one condition'],
    [{ any: null }, 'when.any: must be a list of at least one condition'],
    [{ not: [] }, 'when.not: must be an object'],
    [{ all: [{ type: 'method', op: 'exists' }], any: [] }, 'when.any: is not known here: use all'],
    [{ all: [{ type: 'method', op: 'exists' }, 'x'] }, 'when.all.1: must be an object'],
    [{ not: { all: [{ type: 'cookie', op: 'eq', value: 'x' }] } }, 'when.not.all.0.type: must be one of'],
    [{ op: 'eq', path: '$', value: '' }, 'when.type: must be one of'],
    [leaf('toString', 'eq', 'x'), 'when.type: must be one of'],
    [leaf('method', 'equals', 'x'), 'when.op: must be one of eq, ne, in'],
    [{ type: 'method', value: 'x' }, 'when.op: must be one of'],
    [{ type: 'method', op: 'eq' }, 'when.value: must be a string'],
    [{ type: 'method', op: 'eq', value: 5 }, 'when.value: must be a string'],
    [leaf('body', 'eq', 'é'.repeat(513)), 'when.value: must have at most 1024 bytes'],
    [leaf('method', 'eq', 'x', { name: 'y' }), 'when.name: is not known here: use type, op, value'],
    [leaf('method', 'exists', 'x'), 'when.value: is not known here: use type, op'],
    [leaf('json', 'eq', 'x', { name: 'y', path: '$' }), 'when.name: is not known here: use type, op, path, value'],
    [leaf('json', 'eq', 'x'), 'when.path: must be a string'],
    [leaf('header', 'eq', 'x'), 'when.name: must be a string'],
    [leaf('query', 'eq', 'x', { name: 'n'.repeat(257) }), 'when.name: must have at most 256 bytes'],
    [leaf('verification', 'eq', 'yes'), 'when.value: must be one of verified, failed, none'],
    [leaf('verification', 'in', 'none,yes'), 'when.value: must be one of verified, failed, none'],
    [leaf('body', 'in', ' , '), 'when.value: must be a comma-separated list of values'],
    [leaf('body', 'gt', 'ten'), 'when.value: must be a decimal number'],
    [leaf('body', 'gt', '0x10'), 'when.value: must be a decimal number'],
    [leaf('body', 'lte', ''), 'when.value: must be a decimal number'],
    [leaf('body', 'matches', '('), 'when.value: must be a pattern in RE2 syntax: missing closing )'],
    [leaf('body', 'matches', '(?=a)'), 'when.value: must be a pattern in RE2 syntax'],
    [leaf('body', 'matches', '(a)\\1'), 'when.value: must be a pattern in RE2 syntax'],
    [leaf('body', 'matches', '.{1000}'), 'when.value: is too large a pattern'],
    [leaf('body', 'matches', '(a{1000}){1000}'), 'when.value: must be a pattern in RE2 syntax'],
    [leaf('ip', 'eq', 'localhost'), 'when.value: must be an IP address'],
    [leaf('ip', 'in', '10.0.0.0/33'), 'when.value: must be an IP address'],
    [leaf('ip', 'in', ''), 'when.value: must be an IP address'],
    [leaf('ip', 'eq', '::ffff:10.0.0.0/104'), 'when.value: must be an IP address'],
    [leaf('ip', 'contains', '10.'), 'when.op: must be one of eq, ne, in, exists, absent'],
    [json('type', 'exists'), 'when.path: must be a JSONPath of names'],
    [json('', 'exists'), 'when.path: must be a JSONPath of names'],
    [json('$..type', 'exists'), 'when.path: can only use names, indexes, slices and wildcards'],
    [json('$[?@.a == 1]', 'exists'), 'when.path: can only use names, indexes, slices and wildcards'],
    [json('$[?match(@.a, "(a+)+b")]', 'exists'), 'when.path: can only use'],
    [json('$[0,0]', 'exists'), 'when.path: can only use'],
    [json(`$.${'a'.repeat(1_024)}`, 'exists'), 'when.path: must have at most 1024 bytes'],
    [JSON.parse('{"type":"method","op":"exists","__proto__":1}'), 'when.__proto__: is not known here'],
  ])('%j: %s', (when, fault) => {
    expect(faults(when)).toContainEqual(expect.stringContaining(fault));
  });

  const nested = (levels: number): object =>
    Array.from({ length: levels - 1 }).reduce<object>((inner) => ({ not: inner }), json('$.n', 'exists'));
  const many = (leaves: number): object => ({
    any: [1, 2].map((half) => ({ all: Array.from({ length: leaves / 2 }, () => json('$.n', 'eq', `${half}`)) })),
  });

  it('allows at most 8 levels', () => {
    expect(faults(nested(8))).toEqual([]);
    expect(faults(nested(9))).toEqual([`when${'.not'.repeat(8)}: is nested too deeply: at most 8 levels`]);
    expect(faults(nested(10_000))).toHaveLength(1);
  });

  it('allows at most 64 leaves', () => {
    expect(faults(many(64))).toEqual([]);
    expect(faults(many(66))).toEqual(['when.any.1.all.31: is one condition too many: at most 64 in all']);
    expect(faults({ any: Array.from({ length: 65 }, () => 1) })).toEqual([
      'when.any: has too many conditions: at most 64',
    ]);
  });

  it('reports every fault, but at most 20', () => {
    expect(faults({ all: [{ type: 'x' }, { type: 'method', op: 'x' }] }).map((fault) => fault.split(':')[0])).toEqual([
      'when.all.0.type',
      'when.all.1.op',
    ]);
    expect(faults({ all: Array.from({ length: 64 }, () => ({})) })).toHaveLength(20);
  });

  it('never throws, and never executes its input', () => {
    const key = fc.constantFrom('all', 'any', 'not', 'type', 'op', 'path', 'name', 'value', '__proto__', 'toString');
    const text = fc.constantFrom(
      'json',
      'body',
      'ip',
      'eq',
      'in',
      'matches',
      'gt',
      '$.a',
      '$[',
      '10.0.0.0/8',
      '(a',
      'a*',
      '\ud800',
    );
    const when = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium' },
        text,
        fc.anything(),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(when, unicodeText(), (value, body) => {
        const compiled = compileCondition(value, 'when', { defaultType: 'json' });

        if ('condition' in compiled)
          expect(typeof compiled.condition.matches(view({ text: body, query: body, path: body, ip: body }))).toBe(
            'boolean',
          );
        else expect(compiled.faults.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});

describe('every condition', () => {
  const anyLeaf = fc.oneof(
    fc.constantFrom('eq', 'ne', 'contains', 'starts_with', 'gt').map((op) => json('$.n', op, '10')),
    fc.constantFrom('exists', 'absent').map((op) => ({ type: 'query', name: 'a', op })),
    fc.constant(leaf('body', 'matches', 'paid')),
  );
  const condition = fc.letrec<{ node: object }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      anyLeaf,
      fc.array(tie('node'), { minLength: 1, maxLength: 2 }).map((all) => ({ all })),
      fc.array(tie('node'), { minLength: 1, maxLength: 2 }).map((any) => ({ any })),
      tie('node').map((not) => ({ not })),
    ),
  })).node;

  it('equals its double negation and differs from its negation', () => {
    fc.assert(
      fc.property(condition, (when) => {
        expect(holds({ not: { not: when } })).toBe(holds(when));
        expect(holds({ not: when })).toBe(!holds(when));
      }),
    );
  });

  it('obeys De Morgan', () => {
    fc.assert(
      fc.property(condition, condition, (left, right) => {
        expect(holds({ not: { all: [left, right] } })).toBe(holds({ any: [{ not: left }, { not: right }] }));
      }),
    );
  });
});

describe('the work for one request is bounded', () => {
  const random = Array.from({ length: 131_072 }, (_, i) => ((Math.imul(i, 2_654_435_761) >>> 13) % 2 ? 'a' : 'b')).join(
    '',
  );

  it.each(['^(a+)+$', '(a|aa)*c', '(x+x+)+y', '(.*)(.*)(.*)(.*)[^ -~]', '((a{0,10}){0,10})$'])(
    'the pattern %s ends',
    (pattern) => {
      expect(typeof holds(leaf('body', 'matches', pattern), view({ text: 'a'.repeat(131_072) }))).toBe('boolean');
    },
  );

  it('matches nothing any more once the allowance is exhausted, not even through a not', () => {
    const costly = leaf('body', 'matches', 'a[ab]{22}[cd]');
    const cheap = { type: 'method', op: 'exists' };
    const short = random.slice(0, 400);
    const spent = view({ text: short });

    expect(holds({ any: [costly, cheap] }, view({ text: short }))).toBe(true);
    expect(holds({ any: [costly, costly, cheap] }, spent)).toBe(false);
    expect(holds({ not: costly }, spent)).toBe(false);
    expect(holds(cheap, spent)).toBe(false);
    expect([spent.isExhausted, spent.fresh().isExhausted]).toEqual([true, false]);
    expect(holds(cheap, view({ text: short }))).toBe(true);
  });

  it('does not start work that could block the event loop: a pattern on a large text is refused before it runs', () => {
    const on = view({ text: random });

    expect(holds(leaf('body', 'matches', 'a'), on)).toBe(false);
    expect(on.isExhausted).toBe(true);
  });

  it('evaluates a large text with a sufficient allowance', () => {
    const contains = { all: Array.from({ length: 63 }, (_, i) => leaf('body', 'contains', `word ${i};`)) };
    const text = Array.from({ length: 10_000 }, (_, i) => `word ${i};`).join(' ');
    const on = view({ text }, 10_000_000);

    expect(holds(contains, on)).toBe(true);
    expect(on.isExhausted).toBe(false);
  });

  it('contains is linear, also in a text that repeats itself', () => {
    const value = `${'a'.repeat(511)}b${'a'.repeat(512)}`;

    for (const [text, is] of [
      ['a'.repeat(131_072), false],
      [`${'a'.repeat(100_000)}b${'a'.repeat(512)}`, true],
      [value.slice(1), false],
      [value, true],
    ] as const) {
      expect(holds(leaf('body', 'contains', value), view({ text }, 1_000_000))).toBe(is);
    }
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 251, maxLength: 300 }),
        fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 20 }),
        fc.boolean(),
        (part, around, isIn) => {
          const text = isIn ? `${around}${part}${around}` : `${around}${part.slice(1)}${around}`;
          expect(holds(leaf('body', 'contains', part), view({ text }, 1_000_000))).toBe(text.includes(part));
        },
      ),
    );
  });

  it('charges every node that a path visits', () => {
    const on = view({ text: JSON.stringify(Array.from({ length: 60_000 }, () => 1)) });

    expect(holds({ all: Array.from({ length: 64 }, () => json('$[*].x', 'absent')) }, on)).toBe(false);
    expect(on.isExhausted).toBe(true);
  });
});

describe('compileFilter', () => {
  function passes(filter: unknown, on = view()): boolean {
    const compiled = compileFilter(filter, 'filter');
    if ('faults' in compiled) throw new Error(JSON.stringify(compiled.faults));
    return compiled.condition.matches(on);
  }

  it('a leaf without a type is a json leaf', () => {
    expect([
      passes({ path: '$.type', op: 'eq', value: 'order.paid' }),
      passes({ not: { path: '$.type', op: 'exists' } }),
    ]).toEqual([true, false]);
    expect(compileFilter({ op: 'eq', value: 'x' }, 'filter')).toEqual({
      faults: [{ path: 'filter.path', message: 'must be a string' }],
    });
    expect(passes(leaf('method', 'eq', 'POST'))).toBe(true);
  });

  it.each([
    ['not JSON', 'hello'],
    ['over 128 KB', JSON.stringify({ a: 'x'.repeat(131_072) })],
    ['empty', ''],
  ])('a filter never matches a body that is %s, not even through a not', (_what, text) => {
    const absent = { path: '$.b', op: 'absent' };

    for (const filter of [
      absent,
      { not: { path: '$.b', op: 'exists' } },
      { any: [{ type: 'method', op: 'exists' }, absent] },
    ]) {
      expect([passes(filter), passes(filter, view({ text }))]).toEqual([true, false]);
    }
    expect(passes({ type: 'method', op: 'exists' }, view({ text }))).toBe(true);
  });

  it('a filter matches the body null', () => {
    expect(passes({ path: '$', op: 'eq', value: 'null' }, view({ text: 'null' }))).toBe(true);
  });
});
