import { CompiledSchemas } from './compiled-schemas.js';

const schema = { text: '{}', validateAtOnce: () => [] };

describe('CompiledSchemas', () => {
  it('evicts the least recently used schemas above its size limit', () => {
    const kept = new CompiledSchemas(100);
    for (const key of ['a', 'b', 'c']) kept.keep(key, schema, 30);
    kept.get('a');

    kept.keep('d', schema, 40);

    expect(['a', 'b', 'c', 'd'].map((key) => kept.get(key) !== null)).toEqual([true, false, true, true]);
  });

  it('counts a schema that is added again once', () => {
    const kept = new CompiledSchemas(100);
    for (let i = 0; i < 10; i += 1) kept.keep('a', schema, 60);
    kept.keep('b', schema, 40);

    expect(['a', 'b'].map((key) => kept.get(key) !== null)).toEqual([true, true]);
  });
});
