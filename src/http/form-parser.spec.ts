import { parseForm } from './form-parser.js';

describe('parseForm', () => {
  it('reads fields, with what is escaped in them', () => {
    expect({ ...parseForm('a=1&b=two+words&c=%C3%A9%26&d') }).toEqual({ a: '1', b: 'two words', c: 'é&', d: '' });
  });

  it('400: a field that is there twice', () => {
    expect(() => parseForm('code=1&code=2')).toThrow('The field code is there twice.');
  });

  it('a field is never a prototype', () => {
    expect(Object.keys(parseForm('__proto__=a&constructor=b'))).toEqual(['__proto__', 'constructor']);
  });
});
