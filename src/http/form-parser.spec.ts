import { parseForm } from './form-parser.js';

describe('parseForm', () => {
  it('decodes escapes in names and values', () => {
    expect({ ...parseForm('a=1&b=two+words&c=%C3%A9%26&d') }).toEqual({ a: '1', b: 'two words', c: 'é&', d: '' });
  });

  it('400: a repeated field', () => {
    expect(() => parseForm('code=1&code=2')).toThrow('The field code is there twice.');
  });

  it('a field never sets the prototype', () => {
    expect(Object.keys(parseForm('__proto__=a&constructor=b'))).toEqual(['__proto__', 'constructor']);
  });
});
