import Mustache from 'mustache';
import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { type ParsedTemplate, parseTemplate, RenderingTooLarge, TemplateRendering } from './mail-template.js';

function parsed(source: string, isHtml = true): ParsedTemplate {
  const template = parseTemplate(source, isHtml);
  if ('fault' in template) throw new Error(template.fault);
  return template;
}

const rendered = (source: string, variables: Record<string, unknown>, isHtml = true): string =>
  new TemplateRendering(variables).render(parsed(source, isHtml));

describe('a rendered template', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['Hello {{name}}!', { name: 'Ada' }, 'Hello Ada!'],
    ['{{ name }}{{  n}}', { name: 'a', n: 0 }, 'a0'],
    ['{{a}} {{{a}}} {{&a}}', { a: `<b>"'&` }, `&lt;b&gt;&quot;&#39;&amp; <b>"'& <b>"'&`],
    ['{{customer.address.city}}', { customer: { address: { city: 'Oslo' } } }, 'Oslo'],
    [
      '{{#lines}}{{count}}×{{title}};{{/lines}}',
      {
        lines: [
          { count: 2, title: 'a' },
          { count: 1, title: 'b' },
        ],
      },
      '2×a;1×b;',
    ],
    ['{{#tags}}{{.}},{{/tags}}', { tags: ['a', 'b'] }, 'a,b,'],
    ['{{#paid}}yes{{/paid}}{{^paid}}no{{/paid}}', { paid: true }, 'yes'],
    ['{{#paid}}yes{{/paid}}{{^paid}}no{{/paid}}', {}, 'no'],
    ['{{#lines}}x{{/lines}}{{^lines}}none{{/lines}}', { lines: [] }, 'none'],
    ['{{#customer}}{{name}} of {{shop}}{{/customer}}', { customer: { name: 'Ada' }, shop: 'S' }, 'Ada of S'],
    ['a{{! a comment }}b', {}, 'ab'],
    ['{"a":{{a}}}', { a: 1 }, '{"a":1}'],
    ['.a{color:red}} {{a}}', { a: 1 }, '.a{color:red}} 1'],
    ['<!--[if mso]><td width="{{w}}"><![endif]-->', { w: 5 }, '<!--[if mso]><td width="5"><![endif]-->'],
    ['{{yes}} {{no}} {{price}}', { yes: true, no: false, price: 0.1 }, 'true false 0.1'],
  ])('%s with %j', (source, variables, expected) => {
    expect(rendered(source, variables)).toBe(expected);
  });

  it.each([
    ['{{unsubscribe_url}} {{a}}', '{{{unsubscribe_url}}} 1'],
    ['{{{ unsubscribe_url }}} {{{RESEND_UNSUBSCRIBE_URL}}}', '{{{unsubscribe_url}}} {{{RESEND_UNSUBSCRIBE_URL}}}'],
    ['<a href="{{<!-- -->unsubscribe_url<!-- -->}}">', '<a href="{{{unsubscribe_url}}}">'],
    ['{{#list}}{{unsubscribe_url}},{{/list}}', '{{{unsubscribe_url}}},{{{unsubscribe_url}}},'],
  ])('keeps the placeholder of the unsubscribe link: %s', (source, expected) => {
    const rendering = new TemplateRendering({ a: 1, list: [1, 2], unsubscribe_url: 'https://elsewhere.example' });
    const template = parsed(source);

    expect(rendering.render(template)).toBe(expected);
    expect([...rendering.missing.values()]).toEqual([]);
    expect(template.names).not.toContain('unsubscribe_url');
  });

  it('is not escaped in text', () => {
    expect(rendered('{{a}} {{{a}}}', { a: '<&>' }, false)).toBe('<&> <&>');
  });

  it.each([
    ['Hello <!-- -->{{<!-- -->name<!-- -->}}<!-- -->!', 'Hello <!-- -->&lt;<!-- -->!'],
    ['{{{<!-- -->name<!-- -->}}}', '<'],
    ['{{&amp;name}}', '<'],
  ])('has the tags that React writes: %s', (source, expected) => {
    expect(rendered(source, { name: '<' })).toBe(expected);
  });

  it.each([
    'a\n{{#on}}\nb\n{{/on}}\nc\n',
    'a\r\n  {{#on}}\t\r\nb\r\n{{/on}}\r\nc',
    '{{#on}}\n{{! first }}\nb\n  {{/on}}',
    'a {{#on}}\nb {{/on}} c\n{{name}}\n',
    '{{#list}}\n- {{.}}\n{{/list}}\n{{^off}} x {{/off}}\n',
  ])('has the lines of Mustache itself: %j', (source) => {
    const variables = { on: true, name: 'n', list: ['1', '2'], off: false };

    expect(rendered(source, variables)).toBe(Mustache.render(source, variables));
  });

  it('keeps the tag of a missing value and names it', () => {
    const rendering = new TemplateRendering({ a: null, list: [{}], unused: undefined });

    expect(rendering.render(parsed('{{a}} {{b.c}} {{#list}}{{d}}{{/list}}{{#e}}{{f}}{{/e}}'))).toBe(
      '{{a}} {{b.c}} {{d}}',
    );
    expect([...rendering.missing.values()]).toEqual(['a', 'b.c', 'list[0].d']);
  });

  it('names lists and objects where a text must be', () => {
    const rendering = new TemplateRendering({ a: {}, b: [1] });

    rendering.render(parsed('{{a}}{{{b}}}'));

    expect([...rendering.notText.values()]).toEqual(['a', 'b']);
  });

  it.each<[string, string]>([
    ['{{#orders}}{{customer.name}}{{/orders}}', 'orders[1].customer.name'],
    ['{{#orders}}{{#lines}}{{title}}{{/lines}}{{/orders}}', 'orders[1].lines[0].title'],
    ['{{#orders}}{{#tags}}{{.}}{{/tags}}{{/orders}}', 'orders[0].tags[1]'],
    ['{{#shop}}{{#owner}}{{name}}{{/owner}}{{/shop}}', 'shop.owner.name'],
    ['{{#orders}}{{shop.name}}{{/orders}}', 'shop.name'],
    ['{{#orders}}{{#shop.owner}}{{name}}{{/shop.owner}}{{/orders}}', 'shop.owner.name'],
    ['{{#on}}{{#orders}}{{unknown}}{{/orders}}{{/on}}', 'orders[0].unknown'],
  ])('names the path of a missing value, at its first use: %s', (source, path) => {
    const rendering = new TemplateRendering({
      on: true,
      shop: { owner: { id: 1 } },
      orders: [{ customer: { name: 'A' }, tags: ['a', null] }, { lines: [{}, {}] }, {}],
    });

    rendering.render(parsed(source));

    expect([...rendering.missing.values()]).toEqual([path]);
  });

  it.each(['constructor', '__proto__', 'toString', 'a.constructor', 'a.length', 'a.__proto__.polluted', 'list.map'])(
    'reads no inherited field: %s',
    (name) => {
      const rendering = new TemplateRendering({ a: 'text', list: [] });

      expect(rendering.render(parsed(`{{${name}}}{{#${name}}}reached{{/${name}}}`))).toBe(`{{${name}}}`);
      expect([...rendering.missing.values()]).toEqual([name]);
    },
  );

  it('renders the length of a list', () => {
    expect(rendered('{{list.length}}{{#list.length}} items{{/list.length}}', { list: ['a', 'b'] })).toBe('2 items');
  });

  it('reads a variable that is called __proto__ as data', () => {
    expect(rendered('{{__proto__.a}}', JSON.parse('{"__proto__": {"a": "own"}}') as Record<string, unknown>)).toBe(
      'own',
    );
    expect(({} as { a?: string }).a).toBeUndefined();
  });

  it('is refused when its lists multiply, with and without output', () => {
    const list = Array.from({ length: 1_000 }, () => 1);
    const nested = (inner: string): string => `${'{{#l}}'.repeat(8)}${inner}${'{{/l}}'.repeat(8)}`;

    for (const inner of ['', 'x', '{{.}}'])
      expect(() => rendered(nested(inner), { l: list })).toThrow(RenderingTooLarge);
  });

  it('is refused when it is larger than an email', () => {
    expect(() => rendered('{{#l}}{{a}}{{/l}}', { l: Array(100).fill(1), a: '<'.repeat(20_000) })).toThrow(
      RenderingTooLarge,
    );
  });
});

describe('parseTemplate', () => {
  it('returns the names of variables, not of their fields', () => {
    const { names } = parsed('{{a.b}} {{#list}}{{.}}{{c}}{{/list}} {{^d}}{{/d}} {{{e}}} {{! f }}');

    expect([...names]).toEqual(['a', 'list', 'c', 'd', 'e']);
  });

  it.each([
    ['{{', 'line 1: "{{" is not a tag'],
    ['a\n\n{{>header}}', 'line 3: "{{>header}}" is not a tag'],
    ['{{=<% %>=}}', 'line 1: "{{=<% %>=}}" is not a tag'],
    ['{{}}', 'line 1: "{{}}" is not a tag'],
    ['{{ first name }}', 'line 1: "{{ first name }}" is not a tag'],
    ['{{a..b}}', 'line 1: "{{a..b}}" is not a tag'],
    ['{{{#a}}}', 'line 1: "{{{#a}}}" is not a tag'],
    ['{{{a}}', 'line 1: "{{{a}}" is not a tag'],
    ['{{"a"}}', 'line 1: "{{"a"}}" is not a tag'],
    ['{{/a}}', 'line 1: {{/a}} closes no section'],
    ['{{#a}}\n{{#b}}{{/a}}', 'line 2: {{/a}} stands where {{/b}} must stand'],
    ['{{#a}}', 'the section a has no {{/a}}'],
    ['{{#unsubscribe_url}}x{{/unsubscribe_url}}', 'line 1: unsubscribe_url is the unsubscribe link of the recipient'],
    ['{{{RESEND_UNSUBSCRIBE_URL.a}}}', 'line 1: RESEND_UNSUBSCRIBE_URL is the unsubscribe link'],
    ['{{#a}}'.repeat(9), 'line 1: sections must not be nested more than 8 deep'],
  ])('refuses %j', (source, fault) => {
    expect(parseTemplate(source, true)).toEqual({ fault: expect.stringContaining(fault) });
  });

  it('refuses more than 2,000 tags', () => {
    expect(parseTemplate('{{a}}'.repeat(2_001), true)).toEqual({ fault: 'must have at most 2000 tags' });
  });

  it.each([
    ['white space in a tag', `{{a${' '.repeat(500_000)}`],
    ['white space around tags', `${' '.repeat(250_000)}{{!}}${' '.repeat(250_000)}`],
    ['braces', '{'.repeat(500_000)],
    ['tags that do not end', '{{{a}}'.repeat(80_000)],
    ['one long name', `{{${'a.'.repeat(250_000)}}}`],
  ])('reads half a megabyte of %s in linear time', async (_, source) => {
    expect(await growthOf(source, (part) => parseTemplate(part, true))).toBeLessThan(LINEAR);
  });
});
