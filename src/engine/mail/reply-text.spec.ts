import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { replyParts } from './reply-text.js';

const ADA = 'Ada <ada@example.com>';
const INTRODUCTIONS: [string, string][] = [
  ['English', `On Fri, 21 Nov 2026 at 09:30, ${ADA} wrote:`],
  ['English, wrapped', 'On Fri, 21 Nov 2026 at 09:30, Ada Lovelace of Example Company\n<ada@example.com> wrote:'],
  ['German', `Am Fr., 21. Nov. 2026 um 09:30 Uhr schrieb ${ADA}:`],
  ['French', `Le ven. 21 nov. 2026 à 09:30, ${ADA} a écrit :`],
  ['Spanish', 'El vie, 21 nov 2026 a las 9:30, Ada (<ada@example.com>) escribió:'],
  ['Portuguese', `Em sex., 21 de nov. de 2026 às 09:30, ${ADA} escreveu:`],
  ['Italian', `Il giorno ven 21 nov 2026 alle ore 09:30 ${ADA} ha scritto:`],
  ['Dutch', `Op vr 21 nov 2026 om 09:30 schreef ${ADA}:`],
  ['Swedish', `Den fre 21 nov. 2026 kl 09:30 skrev ${ADA}:`],
  ['Finnish', 'pe 21. marrask. 2026 klo 9.30 Ada (ada@example.com) kirjoitti:'],
  ['Polish', `pt., 21 lis 2026 o 09:30 ${ADA} napisał(a):`],
  ['Czech', `pá 21. 11. 2026 v 9:30 odesílatel ${ADA} napsal:`],
  ['Russian', `пт, 21 нояб. 2026 г. в 09:30, ${ADA}:`],
  ['Ukrainian', `пт, 21 лист. 2026 р. о 09:30 ${ADA}:`],
  ['Turkish', `${ADA}, 21 Kas 2026 Cum, 09:30 tarihinde şunu yazdı:`],
  ['Japanese', `2026年11月21日(土) 9:30 ${ADA}:`],
  ['Chinese', `${ADA} 于2026年11月21日周六 09:30写道：`],
  ['Korean', `2026년 11월 21일 (토) 오전 9:30, ${ADA}님이 작성:`],
];
const OUTLOOK: [string, string][] = [
  ['English', 'From: Ada <ada@example.com>\nSent: Friday, 21 November 2026 09:30\nTo: Bob\nSubject: Order'],
  ['English, bold', '*From:* Ada <ada@example.com>\n*Sent:* Friday\n*To:* Bob\n*Subject:* Order'],
  ['German', 'Von: Ada <ada@example.com>\nGesendet: Freitag, 21. November 2026 09:30\nAn: Bob\nBetreff: Order'],
  ['French', 'De : Ada <ada@example.com>\nEnvoyé : vendredi 21 novembre 2026\nÀ : Bob\nObjet : Order'],
  ['Spanish', 'De: Ada <ada@example.com>\nEnviado el: viernes\nPara: Bob\nAsunto: Order'],
  ['Japanese', '差出人: Ada <ada@example.com>\n送信日時: 2026年11月21日\n宛先: Bob\n件名: Order'],
];

describe('the reply in a text', () => {
  it.each(INTRODUCTIONS)('%s: a quote below its introduction is left out', (_language, introduction) => {
    const text = `Yes, please.\n\nBob\n\n${introduction}\n> Shall I?\n>\n> Ada\n`;

    expect(replyParts(text)).toEqual({ reply: 'Yes, please.\n\nBob', signature: null });
  });

  it.each(INTRODUCTIONS)('%s: a message that is quoted without ">" is left out', (_language, introduction) => {
    expect(replyParts(`Yes, please.\n\n${introduction}\n\nShall I?\n\nAda\n`).reply).toBe('Yes, please.');
  });

  it.each(OUTLOOK)('%s: a message below its header, as Outlook quotes it, is left out', (_language, header) => {
    expect(replyParts(`Yes, please.\n\n________________________________\n${header}\n\nShall I?`).reply).toBe(
      'Yes, please.',
    );
    expect(replyParts(`Yes, please.\n\n${header}\n\nShall I?`).reply).toBe('Yes, please.');
  });

  it.each([
    '-----Original Message-----',
    '---------- Forwarded message ---------',
    '-----Ursprüngliche Nachricht-----',
    "-----Message d'origine-----",
    '-----Mensaje original-----',
    '-----Исходное сообщение-----',
  ])('a message below %s is left out', (separator) => {
    expect(replyParts(`Yes.\n\n${separator}\nFrom: Ada\n\nShall I?`).reply).toBe('Yes.');
  });

  it('answers between quotes stay, in their order', () => {
    const text = `Hi,\n\nOn Friday, ${ADA} wrote:\n> one?\n\nYes.\n\n> two?\n\nNo.\n\n-- \nBob\n`;

    expect(replyParts(text)).toEqual({ reply: 'Hi,\n\n\nYes.\n\n\nNo.', signature: 'Bob' });
  });

  it('an answer below the quote stays', () => {
    expect(replyParts(`On Friday, ${ADA} wrote:\n> Shall I?\n\nYes.`).reply).toBe('Yes.');
  });

  it.each<[string, string]>([
    ['a sentence that ends in "wrote:"', 'My colleague wrote:\nplease call me.'],
    ['a sentence that starts like an introduction', 'On Monday we meet.\nAm Montag nicht.\nLe chat.'],
    ['a list of two fields', 'From: Berlin\nTo: Hamburg\n\nIs that right?'],
    ['a line', 'a\n____________________\nb'],
    ['dashes', 'a\n---\nb'],
    ['a long text without line breaks', 'word '.repeat(1_000).trim()],
    ['nothing', ''],
  ])('%s is no quote', (_what, text) => {
    expect(replyParts(text)).toEqual({ reply: text, signature: null });
  });
});

describe('the signature of a text', () => {
  it.each<[string, string]>([
    ['-- ', 'Bob\nExample Company'],
    ['--', 'Bob'],
  ])('below %j', (separator, signature) => {
    expect(replyParts(`Yes.\n${separator}\n${signature}\n`)).toEqual({ reply: 'Yes.', signature });
  });

  it.each([
    'Sent from my iPhone',
    'Von meinem iPhone gesendet',
    'Envoyé de mon iPhone',
    'Get Outlook for Android<https://aka.ms/x>',
  ])('%s', (line) => {
    expect(replyParts(`Yes.\n\n${line}\n\nOn Friday, ${ADA} wrote:\n> Shall I?`)).toEqual({
      reply: 'Yes.',
      signature: line,
    });
  });

  it('a separator far above the end is part of the text', () => {
    const text = `a\n--\n${'line\n'.repeat(30)}b`;

    expect(replyParts(text)).toEqual({ reply: text, signature: null });
  });
});

describe('a hostile text', () => {
  it.each<[string, string]>([
    ['a million introductions', 'On a wrote:\n'.repeat(80_000)],
    ['a line of dashes', '-'.repeat(1_000_000)],
    ['a line of spaces', `-- ${' '.repeat(1_000_000)}x`],
    ['starts of introductions', 'On 2026 '.repeat(120_000)],
    ['a million lines', 'On\n'.repeat(350_000)],
    ['header names', 'From: \n'.repeat(140_000)],
    ['quotes', '>\n'.repeat(500_000)],
    ['introductions with many years in Russian', `пн ${'2026'.repeat(73)}:\n`.repeat(3_400)],
  ])('%s: it is read in linear time', async (_what, text) => {
    expect(await growthOf(text, replyParts)).toBeLessThan(LINEAR);
  });
});
