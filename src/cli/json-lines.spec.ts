import { jsonLines, TooLong } from './json-lines.js';

async function lines(chunks: readonly (string | Buffer)[], bytesMax = 20): Promise<(string | null)[]> {
  const found: (string | null)[] = [];
  async function* input(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  for await (const line of jsonLines(input(), bytesMax)) found.push(line instanceof TooLong ? null : line);
  return found;
}

describe('jsonLines', () => {
  it('splits lines at any chunk boundary, also within a character, with CR and without a final newline', async () => {
    const text = Buffer.from('{"a":"é"}\r\n\n{"b":1}\n{"c":2}');

    for (let size = 1; size <= text.length; size += 1) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.subarray(i * size, (i + 1) * size),
      );
      expect(await lines(chunks)).toEqual(['{"a":"é"}', '{"b":1}', '{"c":2}']);
    }
  });

  it('reports a line that is too long, and continues after it', async () => {
    expect(await lines(['x'.repeat(15), 'x'.repeat(15), '\n{"a":1}\n', 'y'.repeat(21)])).toEqual([
      null,
      '{"a":1}',
      null,
    ]);
  });
});
