import iconv from 'iconv-lite';
import { decodePart } from './text-decoding.js';

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
