import { Buffer } from 'node:buffer';
import { multipartFields } from './multipart.js';

/** Encodes a form as Node.js does. */
async function encoded(fill: (form: FormData) => void): Promise<{ type: string; body: Buffer }> {
  const form = new FormData();
  fill(form);
  const response = new Response(form);
  return { type: response.headers.get('content-type') ?? '', body: Buffer.from(await response.arrayBuffer()) };
}

describe('multipartFields', () => {
  it('returns the encoded fields in order, without files', async () => {
    const { type, body } = await encoded((form) => {
      form.append('timestamp', '1700000000');
      form.append('attachment-1', new Blob([Buffer.from([0, 255, 13, 10, 45, 45])]), 'a.bin');
      form.append('subject', 'Zoë\r\n--x');
      form.append('empty', '');
      form.append('timestamp', '2');
    });

    expect(multipartFields(type, body)).toEqual([
      ['timestamp', '1700000000'],
      ['subject', 'Zoë\r\n--x'],
      ['empty', ''],
      ['timestamp', '2'],
    ]);
    expect(multipartFields(type.replace(/boundary=(.*)/, 'boundary="$1"'), body)).toHaveLength(4);
    expect(multipartFields(type, Buffer.concat([Buffer.from('preamble\r\n'), body]))).toHaveLength(4);
  });

  it.each([undefined, 'application/json', 'multipart/form-data', 'multipart/mixed; boundary=x'])(
    'returns null for %s',
    (type) => {
      expect(multipartFields(type, Buffer.from('--x\r\n\r\n--x--'))).toBeNull();
    },
  );

  it.each([
    '',
    '--x',
    '--x\r\n',
    '--x\r\n\r\n',
    '--x--\r\n',
    'a\r\n--y\r\n--x',
    '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb',
  ])('does not throw for a truncated body: %j', (body) => {
    expect(multipartFields('multipart/form-data; boundary=x', Buffer.from(body))).toEqual([]);
  });

  it('is fast for a body of boundaries only', () => {
    expect(multipartFields('multipart/form-data; boundary=x', Buffer.from('--x\r\n'.repeat(200_000)))).toEqual([]);
  });
});
