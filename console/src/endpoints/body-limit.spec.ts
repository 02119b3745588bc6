import { bytesOfSize, sizeOf } from './body-limit';

describe('the body limit', () => {
  it.each([
    [1_048_576, '1', 'MB'],
    [26_214_400, '25', 'MB'],
    [1_537, '1537', 'bytes'],
    [524_288, '512', 'KB'],
    [1, '1', 'bytes'],
  ] as const)('%d bytes are %s %s', (bytes, amount, unit) => {
    expect(sizeOf(bytes)).toEqual({ amount, unit });
    expect(bytesOfSize(amount, unit)).toBe(bytes);
  });

  it('an empty amount is the default', () => {
    expect(bytesOfSize(' ', 'MB')).toBeNull();
    expect(bytesOfSize('1.5', 'KB')).toBe(1_536);
  });
});
