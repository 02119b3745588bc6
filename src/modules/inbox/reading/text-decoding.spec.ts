import iconv from 'iconv-lite';
import { growthOf, LINEAR } from '../../../../test/support/cpu-time.js';
import { decodePart, firstUsable } from './text-decoding.js';

/** Decodes the encoded text as a part without a declared character set. */
const guessed = (text: string, charset: string): string => decodePart(iconv.encode(text, charset), null, false).text;

const WESTERN: readonly [language: string, words: string][] = [
  ['Estonian', 'ÕÄÖÜ|õäöü|JÄÄÄÄR|TÖÖÖÖ|ÖÖÄÄR|TÖÖ|HÄÄ|KÜÜ|PÜÜA|LÕUNASÖÖK|ÜLEÖÖ|Tõõ|öö|jäääär|PÄEVAÕÕ'],
  ['Finnish', 'ÄÄNEKOSKI|HÄÄYÖ|HYVÄÄ YÖTÄ|TYÖPÄIVÄ|RÄÄKKYLÄ|Hyvää päivää|yöttömän yön'],
  ['German', 'KÖLN|GRÜSSE|MÜNCHEN|ÜBERGRÖSSE|ÖFFNUNG|ÄÖÜ|äöüß|Größe|JÜRGEN MÜLLER|Grüße, café € 5'],
  ['Swedish and Danish', 'ÅÄÖ|åäö|ÆØÅ|æøå|MÅNAD|SMÖRGÅS|RÆKKE|BLÅBÆR|ØRE|på ö, å'],
  ['French', 'FRANÇAIS|ÉTÉ|CRÉÉE|ÎLE|À|É|créée|été à Évry|«À Noël»'],
  ['Portuguese and Spanish', 'AÇÃO|AÇÕES|NÃO|ESPAÑA|¿QUÉ?|SEÑOR|ação|mañana'],
  ['Italian and Icelandic', 'CITTÀ|PERCHÉ|È|ÞÓRÐUR|ÍSLAND|ÓÐAL|ÆÐI|þú ert'],
];
const CYRILLIC: readonly [language: string, words: string][] = [
  ['Russian', 'привет|Привет|Здравствуйте|Москва|спасибо|заказ|письмо|Договор|Иванов|Пётр|Юлия|Жуков|Щукин|Дмитрий'],
  ['Russian', 'подтверждение|доставка|оплата|завтра|вчера|Уважаемый|счёт|Мы ждём вас|Re: Встреча завтра в 10:00'],
  ['Russian capitals', 'ПРИВЕТ|МОСКВА|ЗАКАЗ|ДОГОВОР|ОПЛАТА|СРОЧНО: СЧЁТ НА ОПЛАТУ|ВАШ ЗАКАЗ ОТПРАВЛЕН|СПАСИБО'],
  ['Ukrainian', 'Київ|Привіт|замовлення|ЗАМОВЛЕННЯ|Ваше замовлення відправлено|Шевченко|Україна|рахунок'],
  ['Bulgarian', 'Благодаря|Здравейте|поръчка|България|София|Добър ден|Вашата поръчка е изпратена'],
];
const split = (lists: readonly [string, string][]): [string, string][] =>
  lists.flatMap(([language, words]) => words.split('|').map((word): [string, string] => [language, word]));

describe('text without a declared character set', () => {
  it.each(split(WESTERN))('%s in windows-1252: %s', (_language, text) => {
    expect(guessed(text, 'windows-1252')).toBe(text);
  });

  it.each(split(CYRILLIC))('%s in windows-1251: %s', (_language, text) => {
    expect(guessed(text, 'windows-1251')).toBe(text);
  });

  it.each(split(CYRILLIC).filter(([language]) => language !== 'Ukrainian'))('%s in KOI8-R: %s', (_language, text) => {
    expect(guessed(text, 'KOI8-R')).toBe(text);
  });

  it.each(['да', 'Мы'])('the short %s is no evidence for Cyrillic text', (text) => {
    const bytes = iconv.encode(text, 'windows-1251');

    expect(decodePart(bytes, null, false)).toEqual({ text: iconv.decode(bytes, 'windows-1252'), isGuessed: true });
  });

  it('uses the character set that the message declares elsewhere, unless the bytes are invalid in it', () => {
    const yes = iconv.encode('да', 'windows-1251');

    expect(decodePart(yes, null, false, 'windows-1251')).toEqual({ text: 'да', isGuessed: true });
    expect(decodePart(yes, 'us-ascii', false, 'utf-8').text).toBe('äà');
    expect(decodePart(Buffer.from('M\xfcller', 'latin1'), null, false, 'shift_jis').text).toBe('Müller');
  });
});

/** Texts that Python's codecs encoded, in base64. */
const SHIFTED: readonly [charset: string, text: string, encoded: string][] = [
  ['iso-2022-jp', 'こんにちは、世界。\nカタカナ abc', 'GyRCJDMkcyRLJEEkTyEiQCQzJiEjGyhCChskQiUrJT8lKyVKGyhCIGFiYw=='],
  ['ISO-2022-JP-1', '丂漢字', 'GyQoRDAhGyRCNEE7ehsoQg=='],
  ['iso-2022-jp-2', '漢字 한글 丂', 'GyRCNEE7ehsoQiAbJChDR1ExWxsoQiAbJChEMCEbKEI='],
  ['iso-2022-jp-ext', 'ｱｲｳ 漢', 'GyhJMTIzGyhCIBskQjRBGyhC'],
  ['csISO2022JP', '日本', 'GyRCRnxLXBsoQg=='],
  ['cp50220', '日本', 'GyRCRnxLXBsoQg=='],
  ['iso-2022-kr', '안녕하세요 abc\n반갑습니다', 'GyQpQw4+SDNnR088PD9kDyBhYmMKDjldMCk9QDRPNFkP'],
  ['hz-gb-2312', '你好 abc~ 世界\n再见', 'fntEYzpDfn0gYWJjfn4gfntKQD1nfn0KfntUWTx7fn0='],
  ['iso-2022-cn', '你好 abc', 'GyQpQQ5EYzpDDyBhYmM='],
];

describe('text with shift sequences', () => {
  it.each(SHIFTED)('%s: %j', (charset, text, encoded) => {
    const bytes = Buffer.from(encoded, 'base64');
    const html = Buffer.concat([Buffer.from(`<meta charset="${charset}">`), bytes]);

    expect(decodePart(bytes, charset, false)).toEqual({ text, isGuessed: false });
    expect(decodePart(html, null, true).text).toBe(`<meta charset="${charset}">${text}`);
    expect(decodePart(bytes, 'utf-8', true).text).toBe(bytes.toString());
  });

  it.each<[string, string, string, string]>([
    ['bytes above ASCII', 'iso-2022-jp', '\x1b$B$3\xe3\x81$s\x1b(B\xffA', 'こ\ufffd\ufffdん\ufffdA'],
    ['half a character', 'iso-2022-jp', '\x1b$B$3$s$\x1b(BABC', 'こん\ufffdABC'],
    ['a cut message', 'iso-2022-jp', '\x1b$B$3$', 'こ\ufffd'],
    ['no return to ASCII', 'iso-2022-jp', '\x1b$B$3\r\nABC', 'こ\r\nABC'],
    ['an unknown sequence', 'iso-2022-jp', '\x1b$B$3\x1b(XA\x1bB', 'こ\ufffd(X\ufffd\ufffd\ufffd'],
    ['an unknown character', 'iso-2022-jp', '\x1b$B$3~~$s\x1b(B', 'こ\ufffdん'],
    ['shift out without a set', 'iso-2022-kr', 'A\x0eB\x0fC', 'A\x0eB\x0fC'],
    ['a set that no library knows', 'iso-2022-cn', '\x1b$)G\x0eDc:C\x0f abc', '\ufffd\ufffd abc'],
    ['no end', 'hz', 'a ~{Dc:\nb\xff ~}', 'a 你:\nb\ufffd ~}'],
    ['a line continuation', 'hz', 'a~\nb', 'ab'],
  ])('%s in %s becomes U+FFFD or stays', (_what, charset, bytes, text) => {
    expect(decodePart(Buffer.from(bytes, 'latin1'), charset, false)).toEqual({ text, isGuessed: false });
  });

  it('half-width katakana in eight bits are decoded next to JIS sequences', () => {
    for (const [bytes, text] of [
      ['\x1b$B$"\x1b(B\xb1\xb2', 'あｱｲ'],
      ['\x1b$B$"\x1b(BA\xc2\xb1\r\n\xb2', 'あAﾂｱ\r\nｲ'],
    ] as const)
      expect(decodePart(Buffer.from(bytes, 'latin1'), 'iso-2022-jp', false)).toEqual({ text, isGuessed: false });
  });

  it.each<[string, string]>([
    ['iso-2022-jp', 'こん\x1b[0mにちは'],
    ['iso-2022-jp', 'こん\x1b(0にちは\x0e'],
    ['iso-2022-jp', '\x1b(Bこんにちは'],
    ['iso-2022-kr', '안녕\x1b(B하세요'],
    ['hz', '你好 ~{ 世界'],
  ])('%s: %j is UTF-8', (charset, text) => {
    expect(decodePart(Buffer.from(text), charset, false)).toEqual({ text, isGuessed: false });
  });

  it.each(['iso-2022-jp', 'iso-2022-kr', 'hz-gb-2312', 'jis_x0201'])(
    '%s: bytes above ASCII without sequences are in another character set',
    (charset) => {
      expect(decodePart(Buffer.from('M\xfcller', 'latin1'), charset, false)).toEqual({
        text: 'Müller',
        isGuessed: true,
      });
      expect(decodePart(Buffer.from('こん'), charset, false)).toEqual({ text: 'こん', isGuessed: false });
      expect(firstUsable([charset, 'koi8-r'])).toBe('koi8-r');
    },
  );

  it.each<[string, string]>([
    ['hz', `~{${'Dc'.repeat(250_000)}~}`],
    ['iso-2022-jp', '\x1b$B$3\x1b(B'.repeat(60_000)],
    ['iso-2022-jp', `\x1b$B${'$3'.repeat(250_000)}`],
  ])('%s is decoded in linear time', async (charset, text) => {
    expect(await growthOf(text, (part) => decodePart(Buffer.from(part), charset, false))).toBeLessThan(LINEAR);
  });
});
