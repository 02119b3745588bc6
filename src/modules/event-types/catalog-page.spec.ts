import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { html } from '#http/pages/html.js';
import { CATALOG_POLICY, catalogPage } from './catalog-page.js';
import type { CatalogRow } from './event-types.store.js';
import { fieldsOf } from './schema-table.js';

const ATTACK = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&lt;`;

function row(fields: Partial<CatalogRow> = {}): CatalogRow {
  return {
    name: 'a',
    version: 1,
    description: null,
    group: null,
    enforce: false,
    schema: null,
    example: null,
    hasSchema: false,
    isComplete: true,
    ...fields,
  };
}

const tagsOf = (page: string): Set<string> =>
  new Set([...page.matchAll(/<([a-z][^\s>/]*)/gi)].map(([, name = '']) => name));

describe('html', () => {
  it('escapes values, also in lists, and nothing created by html', () => {
    expect(String(html`<p title="${'a"b'}">${['<', '&', `'`, 5, null, html`<b>${'>'}</b>`]}</p>`)).toBe(
      '<p title="a&quot;b">&lt;&amp;&#39;5<b>&gt;</b></p>',
    );
  });

  it('no text becomes markup', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('<', '>', '"', `'`, '&', 'a', ';', '/', '\0', 'é') }), (text) => {
        const escaped = String(html`${text}`);

        expect(escaped).not.toMatch(/[<>"']/);
        expect(escaped.replace(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
      }),
    );
  });
});

describe('catalogPage', () => {
  it('escapes every text that a tenant can write', () => {
    const hostile = {
      [ATTACK]: ATTACK,
      type: 'object',
      required: [ATTACK],
      properties: {
        [ATTACK]: { type: [ATTACK], format: ATTACK, enum: [ATTACK], description: ATTACK, properties: { [ATTACK]: {} } },
      },
    };

    const clean = catalogPage({
      organization: 'a',
      mode: 'live',
      types: [row({ group: 'a', description: 'a', schema: hostileOf('a'), example: { a: 'a' } })],
    });
    const page = catalogPage({
      organization: ATTACK,
      mode: 'test',
      types: [
        row({ name: ATTACK, group: ATTACK, description: ATTACK, schema: hostile, example: { [ATTACK]: ATTACK } }),
      ],
    });

    expect(tagsOf(page)).toEqual(tagsOf(clean));
    expect(page).not.toContain('<script');
    expect(page).not.toContain('<img');
  });

  function hostileOf(text: string): Record<string, unknown> {
    return { type: 'object', required: [text], properties: { [text]: { type: text, description: text } } };
  }

  it('contains exactly the style that its policy allows, and no scripts', () => {
    const page = catalogPage({ organization: 'Acme', mode: 'live', types: [row()] });
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(page) ?? [];

    expect(CATALOG_POLICY).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(page).not.toMatch(/<script|javascript:| style=| on\w+=/);
  });

  it('shows groups in order, and says which parts it omits', () => {
    const page = catalogPage({
      organization: 'Acme',
      mode: 'live',
      types: [row({ name: 'a.b', group: 'Billing' }), row({ name: 'c', isComplete: false, hasSchema: true })],
    });

    expect(page.indexOf('<h2>Billing</h2>')).toBeLessThan(page.indexOf('too large for this page'));
    expect(page).toContain('<a href="#type-1">a.b</a>');
    expect(page).toContain('<article id="type-1">');
  });

  it('shows a message for an empty catalogue', () => {
    expect(catalogPage({ organization: 'Acme', mode: 'live', types: [] })).toContain('no event types yet');
  });
});

describe('fieldsOf', () => {
  it('includes the fields of objects, lists, parts and references', () => {
    expect(
      fieldsOf({
        required: ['id'],
        allOf: [{ properties: { extra: { enum: ['a', 1] } } }],
        properties: {
          id: { type: 'string', format: 'uuid', description: 'Its id.' },
          customer: { $ref: '#/$defs/customer', description: 'Who pays.' },
          lines: {
            type: 'array',
            items: { type: 'object', required: ['sku'], properties: { sku: { type: ['string', 'null'] } } },
          },
        },
        $defs: { customer: { type: 'object', properties: { name: {} } } },
      }),
    ).toEqual([
      { path: 'id', type: 'string (uuid)', required: true, description: 'Its id.' },
      { path: 'customer', type: 'object', required: false, description: 'Who pays.' },
      { path: 'customer.name', type: 'any', required: false, description: null },
      { path: 'lines', type: 'array', required: false, description: null },
      { path: 'lines[].sku', type: 'string or null', required: true, description: null },
      { path: 'extra', type: 'one of "a", 1', required: false, description: null },
    ]);
  });

  it('ends at recursive schemas and at two hundred rows', () => {
    const tree = {
      $defs: {
        a: { properties: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, { $ref: '#/$defs/a' }])) },
      },
      $ref: '#/$defs/a',
    };

    expect(fieldsOf(tree)).toHaveLength(200);
    expect(fieldsOf({ $ref: '#' })).toEqual([]);
  });

  it('visits each part of a position once, however the parts reference each other', () => {
    const self = {
      allOf: Array.from({ length: 64 }, () => ({ $ref: '#/$defs/d' })),
      properties: { a: { type: 'string' } },
    };
    const d = reads(self);

    expect(fieldsOf({ ...self, $defs: { d: d.value } })).toEqual([
      { path: 'a', type: 'string', required: false, description: null },
      { path: 'a', type: 'string', required: false, description: null },
    ]);
    expect(d.count()).toBeLessThan(10);
  });

  it('stops after a thousand schemas without a field', () => {
    const leaf = reads({});
    const parts = (level: number): unknown =>
      level === 0 ? Object.create(leaf.value) : { allOf: Array.from({ length: 16 }, () => parts(level - 1)) };

    expect(fieldsOf(parts(3) as Record<string, unknown>)).toEqual([]);
    expect(leaf.count()).toBeGreaterThan(500);
    expect(leaf.count()).toBeLessThanOrEqual(2_000);
  });

  function reads(schema: Record<string, unknown>): { value: Record<string, unknown>; count: () => number } {
    let count = 0;
    const value = new Proxy(schema, {
      get: (target, key) => {
        if (key === 'allOf') count += 1;
        return Reflect.get(target, key) as unknown;
      },
    });
    return { value, count: () => count };
  }

  it('never throws, whatever the schema contains', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('properties', 'items', '$ref', 'allOf', '$defs', 'type', 'enum', 'required'),
          fc.jsonValue(),
        ),
        (schema) => {
          expect(fieldsOf(schema).length).toBeLessThanOrEqual(200);
        },
      ),
    );
  });
});
