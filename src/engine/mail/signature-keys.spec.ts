import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { keyName, signatureKeyNames } from './signature-keys.js';

describe('signatureKeyNames', () => {
  it('returns names in lower case and A-labels, and no key for an invalid name', () => {
    const signature = (tags: string) => ({ name: 'dkim-signature', value: tags });

    expect(
      signatureKeyNames([
        signature('v=1; d=Bücher.example; s=S1'),
        signature('d=example.com'),
        signature('s=a/b; d=example.com'),
      ]),
    ).toEqual(['s1._domainkey.xn--bcher-kva.example']);
    expect(keyName(`${'a'.repeat(64)}._domainkey.example.com`)).toBeNull();
  });

  it('does not encode overlong names, which would take quadratic time', async () => {
    const long = Array.from({ length: 80_000 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7_919) % 20_000))).join(
      '',
    );

    const namesOf = (name: string): string[] =>
      signatureKeyNames([
        { name: 'dkim-signature', value: `s=a; d=${name}` },
        { name: 'arc-seal', value: `s=${name}; d=example.com` },
      ]);

    expect(namesOf(long)).toEqual([]);
    expect(await growthOf(long, namesOf)).toBeLessThan(LINEAR);
  });
});
