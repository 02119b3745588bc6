import {
  ALL_EMAILS,
  sampleOf,
  templateChangesOf,
  type TemplateDraft,
  templateDraftOf,
  type VariableDraft,
  variableFaultOf,
  withMissing,
} from './template-draft';

const BEFORE: TemplateDraft = {
  name: 'Order',
  alias: '',
  from: '',
  replyTo: '',
  subject: 'Order {{order}}',
  html: '<p>Hi</p>',
  text: '',
  topic: '',
  variables: [{ key: 'order', type: 'number', fallback: '7' }],
};

describe('templateDraftOf', () => {
  it.each<[unknown, string]>([
    [null, ''],
    [true, ALL_EMAILS],
    [{ topic: 'news' }, 'news'],
  ])('shows the unsubscribe setting %j as the topic %j', (unsubscribe, topic) => {
    const template = {
      name: 'Order',
      alias: null,
      from: null,
      reply_to: ['a@b.example', 'c@d.example'],
      subject: null,
      html: null,
      text: null,
      unsubscribe: unsubscribe as never,
      variables: [],
    };

    expect(templateDraftOf(template)).toMatchObject({ topic, replyTo: 'a@b.example, c@d.example', html: '' });
  });

  it.each<[VariableDraft['type'], unknown, string]>([
    ['string', 'customer', 'customer'],
    ['string', '', '""'],
    ['string', null, ''],
    ['number', 7, '7'],
    ['boolean', false, 'false'],
    ['list', [1], '[\n  1\n]'],
    ['object', null, ''],
  ])('a %s with the fallback %j is shown as %j, and is unchanged when saved', (type, value, fallback) => {
    const variables = [{ key: 'a', type, fallback_value: value }] as never;
    const draft = templateDraftOf({ ...BEFORE, reply_to: [], unsubscribe: null, variables });

    expect(draft.variables[0]?.fallback).toBe(fallback);
    expect(templateChangesOf(draft, BEFORE).variables?.[0]?.fallback_value).toEqual(value);
  });
});

describe('templateChangesOf', () => {
  it.each<[Partial<TemplateDraft>, object]>([
    [{}, {}],
    [{ name: 'Receipt' }, { name: 'Receipt' }],
    [{ alias: 'receipt' }, { alias: 'receipt' }],
    [{ html: ' ' }, { html: null }],
    [{ topic: ALL_EMAILS }, { unsubscribe: true }],
    [{ topic: 'news' }, { unsubscribe: { topic: 'news' } }],
    [
      { replyTo: '"Doe, Jane" <jane@a.example>, b@b.example' },
      { reply_to: ['"Doe, Jane" <jane@a.example>', 'b@b.example'] },
    ],
    [{ variables: [] }, { variables: [] }],
  ])('%j sends %j', (changes, sent) => {
    expect(templateChangesOf({ ...BEFORE, ...changes }, BEFORE)).toEqual(sent);
  });
});

describe('variableFaultOf', () => {
  it.each<[VariableDraft, ReturnType<typeof variableFaultOf>]>([
    [{ key: 'name', type: 'string', fallback: 'anything' }, null],
    [{ key: '', type: 'string', fallback: '' }, 'key'],
    [{ key: '1st', type: 'string', fallback: '' }, 'key'],
    [{ key: 'taken', type: 'string', fallback: '' }, 'key'],
    [{ key: 'n', type: 'number', fallback: '1.5' }, null],
    [{ key: 'n', type: 'number', fallback: 'one' }, 'fallback'],
    [{ key: 'n', type: 'number', fallback: '"1"' }, 'fallback'],
    [{ key: 'b', type: 'boolean', fallback: 'true' }, null],
    [{ key: 'l', type: 'list', fallback: '{}' }, 'fallback'],
    [{ key: 'o', type: 'object', fallback: '[]' }, 'fallback'],
    [{ key: 'o', type: 'object', fallback: '{"a": 1}' }, null],
  ])('%j: %j', (variable, fault) => {
    expect(variableFaultOf(variable, [variable, { key: 'taken', type: 'string', fallback: '' }])).toBe(fault);
  });
});

describe('sampleOf and withMissing', () => {
  it('use fallbacks, then values of the type, and keep given values', () => {
    const sample = sampleOf([
      { key: 'name', type: 'string', fallback_value: 'customer' },
      { key: 'order', type: 'number', fallback_value: null },
      { key: 'items', type: 'list', fallback_value: null },
    ]);

    expect(sample).toEqual({ name: 'customer', order: 1, items: [] });
    expect(withMissing(sample, ['total', 'name'])).toEqual({ ...sample, total: 'total' });
  });
});
