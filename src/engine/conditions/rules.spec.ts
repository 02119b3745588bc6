import { validateHeaderName, validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { unicodeText } from '../../../test/support/unicode-text.js';
import type { ReceivedRequest, SynchronousAnswer } from '../inbound/request.js';
import { RequestView } from './request-view.js';
import { compileRules } from './rules.js';

function view(body: unknown = {}, changes: Partial<ReceivedRequest> = {}): RequestView {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new RequestView(
    {
      method: 'POST',
      path: '',
      query: 'q=1%262&hub.challenge=echo',
      headers: [['x-from', 'a"b']],
      body: Buffer.from(text),
      url: 'https://in.example/',
      ip: '::1',
      ...changes,
    },
    'none',
  );
}

function answer(rules: unknown, on = view()): SynchronousAnswer | null {
  const compiled = compileRules(rules, 'responseRules');
  if ('faults' in compiled) throw new Error(JSON.stringify(compiled.faults));
  return compiled.rules.answer(compiled.rules.first(on), on);
}

function faults(rules: unknown): string[] {
  const compiled = compileRules(rules, 'responseRules');
  return 'faults' in compiled ? compiled.faults.map(({ path, message }) => `${path}: ${message}`) : [];
}

const respond = (value: object, on = view()): SynchronousAnswer => answer({ default: value }, on) as SynchronousAnswer;
const bodyOf = (body: string, type: string | undefined, on: RequestView): string =>
  respond({ body, ...(type === undefined ? {} : { headers: { 'content-type': type } }) }, on).body;
const typed = (type: string): object => ({ type: 'json', path: '$.type', op: 'eq', value: type });

const SAFE = { 'x-content-type-options': 'nosniff', 'content-security-policy': 'sandbox' };

describe('rules', () => {
  const rules = {
    rules: [
      { when: typed('ping'), respond: { status: 201, body: 'pong' } },
      {
        when: { any: [typed('ping'), typed('hello')] },
        respond: { status: 202, body: '{"hi":true}', headers: { 'X-Rule': 'two' } },
      },
    ],
    default: { status: 204 },
  };

  it('the first matching rule answers, else the default', () => {
    expect(answer(rules, view({ type: 'ping' }))).toEqual({
      status: 201,
      headers: { 'content-type': 'text/plain; charset=utf-8', ...SAFE },
      body: 'pong',
    });
    expect(answer(rules, view({ type: 'hello' }))).toEqual({
      status: 202,
      headers: { 'x-rule': 'two', 'content-type': 'application/json', ...SAFE },
      body: '{"hi":true}',
    });
    expect(answer(rules, view({ type: 'x' }))).toEqual({ status: 204, headers: {}, body: '' });
  });

  it('without a match and without a default, there is no answer', () => {
    expect(answer({ rules: rules.rules })).toBeNull();
    expect(answer({ rules: [] })).toBeNull();
    expect(answer({})).toBeNull();
  });

  it('are at most 50', () => {
    const many = (count: number): object => ({ rules: Array.from({ length: count }, () => rules.rules[0]) });

    expect(faults(many(50))).toEqual([]);
    expect(faults(many(51))).toEqual(['responseRules.rules: must be a list of at most 50 rules']);
  });

  it.each([
    [null, 'responseRules: must be an object'],
    [[], 'responseRules: must be an object'],
    [{ rule: [] }, 'responseRules.rule: is not known here: use rules, default'],
    [{ rules: {} }, 'responseRules.rules: must be a list of at most 50 rules'],
    [{ rules: [1] }, 'responseRules.rules.0: must be an object'],
    [
      { rules: [{ when: typed('a'), respond: {}, then: 1 }] },
      'responseRules.rules.0.then: is not known here: use when, respond',
    ],
    [{ rules: [{ respond: {} }] }, 'responseRules.rules.0.when: must be an object with one of all'],
    [{ rules: [{ when: typed('a') }] }, 'responseRules.rules.0.respond: must be an object'],
    [
      { rules: [{ when: { all: [{ type: 'x' }] }, respond: {} }] },
      'responseRules.rules.0.when.all.0.type: must be one of',
    ],
    [
      { rules: [{ when: { op: 'exists', path: '$' }, respond: {} }] },
      'responseRules.rules.0.when.type: must be one of',
    ],
    [{ default: 'ok' }, 'responseRules.default: must be an object'],
    [{ default: { code: 200 } }, 'responseRules.default.code: is not known here: use status, body, headers'],
    [{ default: { status: 199 } }, 'responseRules.default.status: must be a whole number from 200 to 599'],
    [{ default: { status: 600 } }, 'responseRules.default.status: must be a whole number'],
    [{ default: { status: '200' } }, 'responseRules.default.status: must be a whole number'],
    [{ default: { status: 204, body: 'x' } }, 'responseRules.default.body: must be empty with status 204'],
    [{ default: { body: {} } }, 'responseRules.default.body: must be a string'],
    [{ default: { body: 'é'.repeat(32_769) } }, 'responseRules.default.body: must have at most 65536 bytes'],
    [{ default: { body: 'a {{body.x' } }, 'responseRules.default.body: has {{ without }}'],
    [
      { default: { body: '{{secrets.x}}' } },
      'responseRules.default.body: knows only {{body.path}}, {{form.name}}, {{query.name}} and {{headers.name}}',
    ],
    [{ default: { body: '{{body}}' } }, 'responseRules.default.body: knows only'],
    [
      { default: { body: '{{body.a..b}}' } },
      'responseRules.default.body: has a path after body that can only use names',
    ],
    [
      { default: { body: '{{body.a b}}' } },
      'responseRules.default.body: has a path after body that must be a JSONPath',
    ],
    [{ default: { body: '{{query.a}}'.repeat(51) } }, 'responseRules.default: has too many placeholders: at most 50'],
    [
      { default: { body: 'f({{body.a}})', headers: { 'content-type': 'text/javascript' } } },
      'responseRules.default.body: can only hold {{…}} in an answer of JSON',
    ],
  ])('%j: %s', (value, fault) => {
    expect(faults(value)).toContainEqual(expect.stringContaining(fault));
  });
});

describe('headers of an answer', () => {
  it.each([
    'content-length',
    'Transfer-Encoding',
    'connection',
    'upgrade',
    'keep-alive',
    'te',
    'trailer',
    'content-encoding',
    'date',
    'host',
    'Set-Cookie',
    'set-cookie2',
    'strict-transport-security',
    'alt-svc',
    'clear-site-data',
    'proxy-authenticate',
    'content-security-policy',
    '',
    'a b',
    'a:',
    'a\r\nb',
    ':status',
    'é',
  ])("can't have the name %j", (name) => {
    expect(faults({ default: { headers: Object.fromEntries([[name, 'x']]) } })).toEqual([
      expect.stringMatching(
        /^responseRules\.default\.headers\.[^]*: (This header is set by|A header name consists of)/,
      ),
    ]);
  });

  it.each(['a\r\nx: y', 'a\nb', 'a\0', 'a\x7f', '日', ' a', 'a\t', 'x'.repeat(4_097), 5, null])(
    "can't have the value %j",
    (value) => {
      expect(faults({ default: { headers: { 'x-a': value } } })).toEqual([
        expect.stringMatching(/headers\.x-a: A header value/),
      ]);
    },
  );

  it('an answer has at most 32 headers, each once', () => {
    expect(
      faults({ default: { headers: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`x-${i}`, ''])) } }),
    ).toEqual(['responseRules.default.headers: must be an object of at most 32 headers']);
    expect(faults({ default: { headers: { 'x-a': '1', 'X-A': '2' } } })).toEqual([
      'responseRules.default.headers.X-A: The same name occurs twice.',
    ]);
    expect(faults({ default: { headers: [] } })).toEqual([
      'responseRules.default.headers: must be an object of at most 32 headers',
    ]);
  });

  it.each(['content-type', 'Location', 'refresh', 'link'])("can't fill in %s from the request", (name) => {
    expect(faults({ default: { headers: { [name]: 'text/{{query.q}}' } } })).toEqual([
      expect.stringMatching(/can't be filled in from the request/),
    ]);
  });

  it('a header takes one line of at most 1 KB from the request', () => {
    const on = view({ a: `x\r\nset-cookie: y\u0000é${'z'.repeat(2_000)}` });

    expect(respond({ headers: { 'X-Echo': '<{{body.a}}>', 'x-none': '{{body.none}}' } }, on).headers).toEqual({
      'x-echo': `<xset-cookie: y${'z'.repeat(1_010)}>`,
      'x-none': '',
    });
  });

  it.each([
    ['text/html', 'text/html; charset=utf-8'],
    ['text/html; charset=UTF-8', 'text/html; charset=UTF-8'],
    ['application/xml;', 'application/xml; charset=utf-8'],
    ['application/json', 'application/json'],
    ['image/svg+xml', 'image/svg+xml; charset=utf-8'],
    ['application/octet-stream', 'application/octet-stream'],
  ])('say the charset: %s', (given, sent) => {
    expect(respond({ body: 'x', headers: { 'content-type': given } }).headers).toEqual({
      'content-type': sent,
      ...SAFE,
    });
  });

  it.each([
    'text/html; charset=utf-7',
    'text/html; charset="utf-16"',
    'text',
    'text/',
    '/html',
    'te xt/html',
    'a/b/c',
    '',
  ])("can't have the content type %j", (type) => {
    expect(faults({ default: { body: 'x', headers: { 'content-type': type } } })).toEqual([
      expect.stringMatching(/^responseRules\.default\.headers\.content-type: must/),
    ]);
  });
});

describe('templates', () => {
  const on = view({
    id: 'a1',
    n: 5,
    t: true,
    z: null,
    list: [{ id: 'x' }, { id: 'y' }],
    o: { k: 1 },
    evil: '"},{"admin":true,"x":"\\',
    html: '<b onclick="x(\'y\')">&',
  });

  it.each([
    ['{{body.id}}-{{ body.n }}-{{body.t}}-{{body.z}}', 'a1-5-true-null'],
    ['{{body.list[1].id}}{{body.list.0.id}}{{body.list[*].id}}', 'yxx'],
    ['{{body.o}}', '{"k":1}'],
    ['[{{body.none}}{{query.none}}{{headers.none}}]'.slice(1, -1), ''],
    ['{{query.q}}', '1&2'],
    ['{{query.hub.challenge}}', 'echo'],
    ['{{headers.X-From}}', 'a"b'],
    ['{{body.id}} }} {', 'a1 }} {'],
  ])('in text: %s', (template, text) => {
    expect(respond({ body: template }, on)).toEqual({
      status: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8', ...SAFE },
      body: text,
    });
  });

  it('inserts numbers in their original spelling, also those that JavaScript cannot hold', () => {
    const long = view('{"id":9007199254740993,"list":[18446744073709551615]}');

    expect(bodyOf('{{body.id}} {{body.list}}', undefined, long)).toBe('9007199254740993 [18446744073709551615]');
    expect(bodyOf('{"a":{{body.id}},"b":"{{body.id}}","c":{{body.list}}}', undefined, long)).toBe(
      '{"a":9007199254740993,"b":"9007199254740993","c":[18446744073709551615]}',
    );
    expect(respond({ headers: { 'x-id': '{{body.id}}' } }, long).headers['x-id']).toBe('9007199254740993');
  });

  it.each([
    ['{"a":"{{body.id}}"}', { a: 'a1' }],
    [
      '{"a":{{body.id}},"b":{{body.n}},"c":{{body.o}},"d":{{body.none}},"e":"{{body.none}}"}',
      { a: 'a1', b: 5, c: { k: 1 }, d: null, e: '' },
    ],
    ['{"a":"{{body.evil}}","b":{{body.evil}}}', { a: '"},{"admin":true,"x":"\\', b: '"},{"admin":true,"x":"\\' }],
    ['{"\\"{":"\\\\{{body.evil}}","{{headers.x-from}}":1}', { '"{': '\\"},{"admin":true,"x":"\\', 'a"b': 1 }],
    ['[{{query.q}},"{{body.o}}"]', ['1&2', '{"k":1}']],
  ])('in JSON: %s', (template, json) => {
    const { headers, body } = respond({ body: template }, on);

    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body)).toEqual(json);
  });

  it('in HTML and XML, a value cannot become markup', () => {
    const escaped = '&#60;b onclick=&#34;x(&#39;y&#39;)&#34;&#62;&#38;';

    for (const type of [
      'text/html',
      'TEXT/HTML; charset=utf-8',
      'application/xhtml+xml',
      'image/svg+xml',
      'text/xml',
    ]) {
      expect(bodyOf('<p>{{body.html}}</p>', type, on)).toBe(`<p>${escaped}</p>`);
    }
  });

  it('in a form, a value is exactly one field', () => {
    expect(bodyOf('a={{query.q}}&b={{body.none}}', 'application/x-www-form-urlencoded', on)).toBe('a=1%262&b=');
  });

  it('body.name is a field where the body is a form', () => {
    const form = view('challenge=a+b', { headers: [['content-type', 'application/x-www-form-urlencoded']] });

    expect(bodyOf('{{body.challenge}}', undefined, form)).toBe('a b');
  });

  it('form.name is a field, and a repeated name is a list, as in a JSON body', () => {
    const headers: [string, string][] = [['content-type', 'application/x-www-form-urlencoded']];
    const form = view('a=1&a=%22&b=x&payload=%7B%22action%22%3A%22opened%22%7D', { headers, query: 'q=1&q=2' });

    expect(bodyOf('{{form.b}} {{form.a}} {{query.q}} {{form.none}}', undefined, form)).toBe('x ["1","\\""] ["1","2"] ');
    expect(bodyOf('{"a":{{form.a}},"b":"{{form.a}}"}', 'application/json', form)).toBe(
      '{"a":["1","\\""],"b":"[\\"1\\",\\"\\\\\\"\\"]"}',
    );
    expect(bodyOf('{{body.action}} {{body.b}}', undefined, form)).toBe('opened x');
  });

  it('leaves out values that do not fit into 64 KB', () => {
    const big = view({ a: 'x'.repeat(60_000), b: 'yy' });

    const { body } = respond({ body: '["{{body.a}}","{{body.a}}",{{body.a}},"{{body.b}}"]' }, big);

    expect(JSON.parse(body)).toEqual(['x'.repeat(60_000), '', null, 'yy']);
    expect(bodyOf('{{body.b}}{{body.b}}', undefined, view({ b: 'é'.repeat(16_384) }))).toHaveLength(32_768);
    expect(bodyOf('.{{body.b}}{{body.b}}', undefined, view({ b: 'é'.repeat(16_384) }))).toHaveLength(16_385);
  });

  it('terminates for many open braces', () => {
    expect(faults({ default: { body: '{{'.repeat(32_768) } })).toEqual([
      'responseRules.default.body: has {{ without }}',
    ]);
  });

  it('a value never leaves its string, its element or its line', () => {
    fc.assert(
      fc.property(unicodeText(), (value) => {
        const any = view({ v: value });
        const json = respond({ body: '{"a":"<{{body.v}}>","b":{{body.v}}}', headers: { 'x-v': '{{body.v}}' } }, any);

        const parsed = JSON.parse(JSON.stringify({ v: value })) as { v: string };
        expect(JSON.parse(json.body)).toEqual({ a: `<${parsed.v}>`, b: parsed.v });
        expect(bodyOf('{{body.v}}', 'text/html', any)).not.toMatch(/[<>"']/);
        for (const [name, text] of Object.entries(json.headers)) {
          validateHeaderName(name);
          validateHeaderValue(name, text);
        }
      }),
    );
  });

  it('never throws, whatever is compiled', () => {
    fc.assert(
      fc.property(fc.anything(), unicodeText(), (anything, body) => {
        for (const value of [
          anything,
          { rules: [anything] },
          { default: anything },
          { default: { body, headers: { 'x-a': body } } },
          { default: { headers: anything } },
        ]) {
          const compiled = compileRules(value, 'responseRules');
          if ('rules' in compiled) compiled.rules.answer(compiled.rules.first(view(body)), view(body));
        }
      }),
    );
  });
});
