import { compareTexts } from './compare-texts';

const lines = (count: number, more = ''): string =>
  `${Array.from({ length: count }, (_, i) => `line ${i}`).join('\n')}\n${more}`;

describe('compareTexts', () => {
  it('returns removed and added lines with their original characters', async () => {
    expect(await compareTexts('{\n  "n": 1.10\n}', '{\n  "n": 1.1\n}')).toEqual([
      { sign: ' ', text: '{', count: 1 },
      { sign: '-', text: '  "n": 1.10', count: 1 },
      { sign: '+', text: '  "n": 1.1', count: 1 },
      { sign: ' ', text: '}', count: 1 },
    ]);
  });

  it('folds equal lines far from a change into a count', async () => {
    const compared = await compareTexts(lines(100, 'a\n') + lines(50), lines(100, 'b\n') + lines(50));

    expect(compared?.map(({ sign, count }) => (sign === '…' ? `…${count}` : sign)).join('')).toBe('…97   -+   …47');
    expect(await compareTexts('same', 'same')).toEqual([{ sign: ' ', text: 'same', count: 1 }]);
  });
});
