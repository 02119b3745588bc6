import { openParameters, openUrl, sealParameter } from './sealed-parameters.js';
import { Vault } from './vault.js';

const KEY = Buffer.alloc(32, 1);
const vault = new Vault({ newest: () => ({ id: 1, key: KEY }), find: (id) => (id === 1 ? KEY : null) });
const OF = { environmentId: 1, id: '0190f0a0-0000-0000-0000-000000000001' };

describe('parameters of a query', () => {
  it.each(['s3cret', '', 'a%2Bb+c', '(hidden)', 'x'.repeat(10_000)])('opens what it sealed: %s', (value) => {
    const query = `a=1&tok%65n=${sealParameter(vault, OF, value)}&b=2`;

    expect(openParameters(vault, OF, query)).toBe(`a=1&tok%65n=${value}&b=2`);
    expect(openUrl(vault, OF, `https://in.example.com/x?${query}`)).toBe(
      `https://in.example.com/x?a=1&tok%65n=${value}&b=2`,
    );
  });

  it('opens values only in their own row', () => {
    const query = `a=${sealParameter(vault, OF, 's3cret')}`;

    expect(() => openParameters(vault, { ...OF, environmentId: 2 }, query)).toThrow(/can't be opened/);
    expect(() =>
      openUrl(vault, { ...OF, id: '0190f0a0-0000-0000-0000-000000000002' }, `https://a.example/?${query}`),
    ).toThrow(/can't be opened/);
  });

  it.each(['', 'a=b', 'a=b+c&d=%20e', 'a=(sealed)', 'a==AAAA', '?a=b'])('leaves %s as it is', (query) => {
    expect(openParameters(vault, OF, query)).toBe(query);
    expect(openUrl(vault, OF, `https://a.example/x y?${query}`)).toBe(`https://a.example/x y?${query}`);
  });
});
