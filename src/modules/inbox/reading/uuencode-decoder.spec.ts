import { decodeUuencoded } from '#engine/mail/uuencode.js';
import { growthOf, LINEAR } from '../../../../test/support/cpu-time.js';
import { attachmentOf, parseMessage } from './parse-message.js';

/** The bytes 0 to 255, as Python's `binascii.b2a_uu` encodes them. */
const WITH_SPACES = [
  'M  $" P0%!@<("0H+# T.#Q 1$A,4%187&!D:&QP=\'A\\@(2(C)"4F)R@I*BLL',
  "M+2XO,#$R,S0U-C<X.3H[/#T^/T!!0D-$149'2$E*2TQ-3D]045)35%565UA9",
  "M6EM<75Y?8&%B8V1E9F=H:6IK;&UN;W!Q<G-T=79W>'EZ>WQ]?G^ @8*#A(6&",
  'MAXB)BHN,C8Z/D)&2DY25EI>8F9J;G)V>GZ"AHJ.DI::GJ*FJJZRMKJ^PL;*S',
  'MM+6VM[BYNKN\\O;Z_P,\'"P\\3%QL?(R<K+S,W.S]#1TM/4U=;7V-G:V]S=WM_@',
  "?X>+CY.7FY^CIZNOL[>[O\\/'R\\_3U]O?X^?K[_/W^_P  ",
];
/** The bytes 0 to 255, encoded with the option `backtick=True` of `b2a_uu`. */
const WITH_BACKQUOTES = [
  'M``$"`P0%!@<("0H+#`T.#Q`1$A,4%187&!D:&QP=\'A\\@(2(C)"4F)R@I*BLL',
  "M+2XO,#$R,S0U-C<X.3H[/#T^/T!!0D-$149'2$E*2TQ-3D]045)35%565UA9",
  "M6EM<75Y?8&%B8V1E9F=H:6IK;&UN;W!Q<G-T=79W>'EZ>WQ]?G^`@8*#A(6&",
  'MAXB)BHN,C8Z/D)&2DY25EI>8F9J;G)V>GZ"AHJ.DI::GJ*FJJZRMKJ^PL;*S',
  'MM+6VM[BYNKN\\O;Z_P,\'"P\\3%QL?(R<K+S,W.S]#1TM/4U=;7V-G:V]S=WM_@',
  "?X>+CY.7FY^CIZNOL[>[O\\/'R\\_3U]O?X^?K[_/W^_P``",
];
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const body = (lines: readonly string[], lineEnd = '\r\n'): string => lines.map((line) => line + lineEnd).join('');
const decoded = (text: string, isText = false): Buffer => decodeUuencoded(Buffer.from(text, 'latin1'), isText);

describe('a uuencoded body', () => {
  it.each<[string, string]>([
    ['with spaces', body(['begin 644 a.bin', ...WITH_SPACES, '`', 'end'])],
    ['with backquotes', body(['begin 644 a.bin', ...WITH_BACKQUOTES, '`', 'end', 'A footer.'])],
    ['with LF', body(['begin 644 a.bin', ...WITH_SPACES, ' ', 'end'], '\n')],
    ['without spaces at line ends', body(['begin 644 a.bin', ...WITH_SPACES.map((line) => line.trimEnd()), '', 'end'])],
    ['with a checksum per line', body(['begin 644 a.bin', ...WITH_BACKQUOTES.map((line) => `${line}X`), '`', 'end'])],
    ['with text above it', body(['Here is it.', '', 'begin 0644 a b.bin', ...WITH_SPACES, '`', 'end'])],
    ['without the empty line', body(['begin 644 a.bin', ...WITH_SPACES, 'end'])],
    ['without `end`', body(['begin 644 a.bin', ...WITH_SPACES]).trimEnd()],
    ['without `end`, with a footer', body(['begin 644 a.bin', ...WITH_BACKQUOTES, '', '-- ', 'A list, 2026'])],
    ['without `begin`', body([...WITH_BACKQUOTES, '`', 'end'])],
    ['without `begin` and `end`', body(WITH_SPACES)],
    ['without `begin`, below an empty line', body(['', ...WITH_SPACES])],
    ['with other lines', body(['begin 644 a.bin', WITH_SPACES[0]!, 'no data', ...WITH_SPACES.slice(1), '`', 'end'])],
  ])('%s is decoded byte for byte', (_what, text) => {
    expect(decoded(text)).toEqual(BYTES);
  });

  /** The second values are those of Python's `binascii.a2b_uu`. */
  it.each<[string, string]>([
    ['!80  ', 'a'],
    ['!80', 'a'],
    ['"86( ', 'ab'],
    ['"86(', 'ab'],
    ['#86)C', 'abc'],
    ['#86)C ', 'abc'],
    ['$86)C9```', 'abcd'],
    ['$86)C9', 'abcd'],
    ['`', ''],
    [' ', ''],
  ])('the line %j is %j', (line, text) => {
    expect(decoded(body(['begin 644 a', line, '`', 'end'])).toString()).toBe(text);
  });

  it.each([
    '',
    'JVBERi0xLjQKJcOkw7zDtsOfCjIgMCBvYmoKPDwvTGVuZ3Ro\r\n',
    'Hello,\r\n\r\nyes.\r\n',
    'HELLO\r\n',
    'begin now\r\n',
    '!80\r\n',
    'HELLO\r\nend\r\n',
    'MY ORDER 4711 IS LATE, SO I WANT A REFUND NOW.\r\nTHANKS\r\n',
    `Dear team,\r\n${WITH_BACKQUOTES[0]!}\r\nis the line.\r\n`,
    `${body(WITH_BACKQUOTES)}Regards\r\n`,
    'begin 100 orders were late.\r\nPlease refund them.\r\n',
  ])('a body that is not encoded stays: %j', (text) => {
    expect(decoded(text, false).toString()).toBe(text);
    expect(decoded(text, true).toString()).toBe(text);
  });

  it.each(['begin 100\r\nend\r\n', 'begin 100\r\n`\r\n', 'begin 100\r\n\r\nend\r\n'])(
    'text without data stays: %j',
    (text) => {
      expect(decoded(text, true).toString()).toBe(text);
    },
  );

  it('text keeps its lines outside the encoded lines', () => {
    const [above, below] = ['Dear team,\r\n\r\n', 'Regards, and please also refund order 8.\r\n'];
    const short = 'begin 644 a.txt\r\n$86)C9```\r\n`\r\nend\r\n';

    expect(decoded(above + short + below, true).toString()).toBe(`${above}abcd${below}`);
    expect(decoded(above + short + below + short + above, true).toString()).toBe(`${above}abcd${below}abcd${above}`);
    expect(decoded(`begin 644 a\r\n${body(WITH_BACKQUOTES)}${below}`, true)).toEqual(
      Buffer.concat([BYTES, Buffer.from(below)]),
    );
    expect(decoded(`begin 644 a\r\nNO DATA\r\n${below}`, true).toString()).toBe(`begin 644 a\r\nNO DATA\r\n${below}`);
  });

  it('a file stays if most of its lines are not encoded', () => {
    const text = `One line.\r\nAnother line.\r\nbegin 644 a.txt\r\n$86)C9\u0060\u0060\u0060\r\nend\r\nand a line below.\r\n`;

    expect(decoded(text).toString()).toBe(text);
  });

  it.each(['', 'Content-Disposition: inline\r\n'])(
    'a part that is shown as text keeps all lines (%j)',
    async (header) => {
      const raw = `From: ada@b.example\r\nMIME-Version: 1.0\r\n${header}Content-Transfer-Encoding: x-uuencode\r\n\r\nDear team,\r\nbegin 644 a.txt\r\n$86)C9\u0060\u0060\u0060\r\nend\r\nRegards, and please also refund order 8.\r\n`;

      expect(await parseMessage(Buffer.from(raw))).toMatchObject({
        text: 'Dear team,\nabcdRegards, and please also refund order 8.\n',
      });
    },
  );

  it('lines without their spaces never grow beyond the body', () => {
    const lines = `${'M\n'.repeat(1_000)}end\n`;

    expect(decoded(`begin 644 a\n${lines}`)).toHaveLength(lines.length);
  });

  it.each(['x-uuencode', 'uuencode', 'X-UUE', 'uue'])(
    'an attachment with the transfer encoding %s is decoded',
    async (encoding) => {
      const raw = Buffer.from(
        `From: ada@b.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nhi\r\n--x\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="a.bin"\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body(['begin 644 a.bin', ...WITH_SPACES, '`', 'end'])}--x--\r\n`,
        'latin1',
      );

      expect(await parseMessage(raw)).toMatchObject({ attachments: [{ filename: 'a.bin', size_bytes: 256 }] });
      expect(Buffer.from((await attachmentOf(raw, 0))!.content)).toEqual(BYTES);
    },
  );

  it.each<[string, string]>([
    ['data', body(['begin 644 a', ...Array<string>(12_000).fill(WITH_BACKQUOTES[0]!)])],
    ['one line', `begin 644 a\n${'M'.repeat(1_000_000)}`],
    ['starts', 'begin 64 '.repeat(100_000)],
    ['empty lines', '\n'.repeat(1_000_000)],
    ['short lines', 'M\n'.repeat(500_000)],
  ])('many %s: it is decoded in linear time', async (_what, text) => {
    expect(await growthOf(text, (part) => [decoded(part), decoded(part, true)])).toBeLessThan(LINEAR);
  });
});
