import { keptAcrossChoices } from './kept-data';

describe('keptAcrossChoices', () => {
  const { queryKey, placeholderData } = keptAcrossChoices(['targets', 'endpoint', 'env_1'], 'a');

  it('appends the choice to the key', () => {
    expect(queryKey).toEqual(['targets', 'endpoint', 'env_1', 'a']);
  });

  it.each([
    ['the previous search text', ['targets', 'endpoint', 'env_1', ''], 'data'],
    ['another kind', ['targets', 'application', 'env_1', 'a'], undefined],
    ['another environment', ['targets', 'endpoint', 'env_2', 'a'], undefined],
  ])('with data of %s', (_of, previousKey, expected) => {
    expect(placeholderData('data', { queryKey: previousKey })).toBe(expected);
  });

  it('has nothing before the first query', () => {
    expect(placeholderData(undefined)).toBeUndefined();
  });
});
