import { fieldsOf, HEAD_BYTES_MAX, headEndOf, headOf, messageIdOf, valuesOf } from './message-head.js';

const fields = (text: string) => fieldsOf(Buffer.from(text));

describe('the header section of a message', () => {
  it('ends at the first empty line of any kind', () => {
    expect([
      headEndOf(Buffer.from('A: b\r\n\r\nbody\r\n\r\n')),
      headEndOf(Buffer.from('A: b\n\nbody')),
      headEndOf(Buffer.from('A: b\r\n')),
    ]).toEqual([8, 6, -1]);
  });

  it('is cut to 256 KB and contains nothing else of the message', () => {
    const endless = Buffer.alloc(HEAD_BYTES_MAX + 1, 'a');
    const head = headOf(Buffer.from('A: b\r\n\r\nbody'));

    expect([headOf(endless).length, head.toString()]).toEqual([HEAD_BYTES_MAX, 'A: b\r\n\r\n']);
    expect(headOf(endless).buffer).not.toBe(endless.buffer);
  });

  it('has its fields in order and unfolded, without text after the empty line', () => {
    expect(fields('Received: from a\r\n\tby b\r\nSubject : two\r\n  words\r\n\r\nFrom: body@example.com')).toEqual([
      { name: 'received', value: 'from a\tby b' },
      { name: 'subject', value: 'two  words' },
    ]);
  });

  it('includes a field that hides behind a bare CR or LF', () => {
    expect(
      valuesOf(fields('From: a@ok.example\rFrom: b@evil.example\nFrom: c@evil.example\r\n\r\n'), 'from'),
    ).toHaveLength(3);
  });

  it('has a Message-ID only if there is exactly one', () => {
    expect([
      messageIdOf(fields('Message-ID: <a@b>\r\n')),
      messageIdOf(fields('Message-Id: <a@b>\r\nMessage-ID: <c@d>\r\n')),
      messageIdOf(fields('Message-ID:\r\n')),
      messageIdOf(fields('A: b')),
    ]).toEqual(['<a@b>', null, null, null]);
  });

  it('does not fail for text without headers', () => {
    expect(fields('\r\n\r\n')).toEqual([]);
    expect(fields(`${'x'.repeat(5_000)}\r\nGood: yes\r\n: none\r\nno colon`)).toEqual([{ name: 'good', value: 'yes' }]);
    expect(messageIdOf(fields(`Message-ID: <a\0b>${'c'.repeat(2_000)}`))).toHaveLength(998);
  });
});
