import { typedQuery } from './query-values.js';

const SCHEMAS = {
  limit: { type: 'integer', default: 50 },
  live: { type: 'boolean' },
  status: { type: 'string' },
  ids: { type: 'array' },
  states: { type: 'array', items: { enum: ['a', 'b', 'c'] } },
};

it.each([
  ['nothing: defaults only', {}, { limit: 50 }],
  ['a whole number', { limit: '7' }, { limit: 7 }],
  ['a negative one', { limit: '-1' }, { limit: -1 }],
  ['a fraction, which the schema rejects', { limit: '1.5' }, { limit: 1.5 }],
  ['text stays text', { limit: 'abc' }, { limit: 'abc' }],
  ['an empty value stays text', { limit: '' }, { limit: '' }],
  ['an exponent stays text', { limit: '1e3' }, { limit: '1e3' }],
  ['hexadecimal stays text', { limit: '0x10' }, { limit: '0x10' }],
  ['given twice stays a list', { limit: ['1', '2'] }, { limit: ['1', '2'] }],
  ['true and false', { live: 'true' }, { limit: 50, live: true }],
  ['any other boolean word stays text', { live: '1' }, { limit: 50, live: '1' }],
  ['a string of digits stays a string', { status: '5' }, { limit: 50, status: '5' }],
  ['a list of one value', { ids: 'a' }, { limit: 50, ids: ['a'] }],
  ['a single word is a list of one', { states: 'a' }, { limit: 50, states: ['a'] }],
  [
    'words with commas, given once or twice, are a list',
    { states: ['a,b', 'c'] },
    { limit: 50, states: ['a', 'b', 'c'] },
  ],
  ['an unknown parameter is left out', { other: 'x', __proto__: 'y' }, { limit: 50 }],
])('%s', (_, query, expected) => {
  expect(typedQuery(query, SCHEMAS)).toEqual(expected);
});
