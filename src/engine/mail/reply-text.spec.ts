import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { htmlToText } from './html-text.js';
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
  ['Thunderbird, English', 'On 11/21/26 9:30 AM, Ada wrote:'],
  ['163.com, English', `At 2026-11-21 09:30:00, "Ada" <ada@example.com> wrote:`],
  ['Mail.ru, English', `Saturday, 21 November 2026, 9:30 AM +0300 from ${ADA}:`],
  ['Gnus, English', `${ADA} writes:`],
  ['Yahoo, German', `${ADA} schrieb am Samstag, 21. November 2026 um 09:30:00 MEZ:`],
  ['Yahoo, German', `Am Samstag, 21. November 2026 um 09:30:00 MEZ hat ${ADA} Folgendes geschrieben:`],
  ['Apple, Portuguese', `No dia 21/11/2026, às 09:30, ${ADA} escreveu:`],
  ['Gmail, Portuguese', `${ADA} escreveu (sábado, 21/11/2026 à(s) 09:30):`],
  ['AquaMail, Italian', 'In data 21 novembre 2026 09:30:31 "Ada" <ada@example.com> ha scritto:'],
  ['Apple, Dutch', `Op 21 nov 2026, om 09:30 heeft ${ADA} het volgende geschreven:`],
  ['Roundcube, Dutch', 'Ada Lovelace schreef op 2026-11-21 09:30:'],
  ['K-9, Dutch', `${ADA} schreef op 21 november 2026 09:30:00 CET:`],
  ['Apple, Swedish', `21 nov. 2026 kl. 09:30 skrev ${ADA}:`],
  ['Sparrow, Swedish', 'På 21 november 2026 på 09:30:18, Ada (ada@example.com) skrev:'],
  ['Gmail, Norwegian', `fre. 13. feb. 2026 kl. 10:00 skrev ${ADA}:`],
  ['Gmail, Norwegian, wrapped', 'tir. 18. apr. 2017 kl. 13:09 skrev Ada <ada@example.com\n>:'],
  ['Gmail, Danish', `Den lør. 21. nov. 2026 kl. 09.30 skrev ${ADA}:`],
  ['Apple, Finnish', `${ADA} kirjoitti 21.11.2026 kello 9.30:`],
  ['Thunderbird, Finnish', 'Ada Lovelace kirjoitti 21.11.2026 klo 9.30:'],
  ['Thunderbird, Polish', 'W dniu 21.11.2026 o 09:30, Ada pisze:'],
  ['Apple, Polish', `Wiadomość napisana przez ${ADA} w dniu 21 lis 2026, o godz. 09:30:`],
  ['WP, Polish', `W dniu 2026-11-21 09:30:39 użytkownik ${ADA} napisał:`],
  ['Gmail, Polish', `śr., 18 lis 2026 o 09:30 ${ADA} napisał(a):`],
  ['Thunderbird, Czech', 'Dne 21. 11. 26 v 9:30 Ada napsal(a):'],
  ['Apple, Czech', `21. 11. 2026 v 9:30, ${ADA}:`],
  ['Gmail, Slovak', `so 21. 11. 2026 o 9:30 ${ADA} napísal(a):`],
  ['Apple, Russian', `21 нояб. 2026 г., в 09:30, ${ADA} написал(а):`],
  ['Mail.ru, Russian', `Суббота, 21 ноября 2026, 9:30 +03:00 от ${ADA}:`],
  ['Yandex, Russian', '21.11.2026, 09:30, "Ada" <ada@example.com>:'],
  ['Gmail, Ukrainian', `пт, 13 лют. 2026 р. о 10:00 ${ADA} пише:`],
  ['Thunderbird, Ukrainian', '21.11.26 09:30, Ada пише:'],
  ['Apple, Turkish', `${ADA} şunları yazdı (21 Kas 2026 09:30):`],
  ['Thunderbird, Turkish', '21.11.2026 09:30 tarihinde Ada yazdı:'],
  ['Apple, Japanese', `2026/11/21 9:30、${ADA}のメール:`],
  ['Apple, Chinese', `2026年11月21日 09:30，${ADA} 写道：`],
  ['163.com, Chinese', '在 2026-11-21 09:30:00，"Ada" <ada@example.com> 写道：'],
  ['Apple, Korean', `2026. 11. 21. 오전 9:30, ${ADA} 작성:`],
  ['Gmail, Hungarian', `${ADA} ezt írta (időpont: 2026. nov. 21., Szo, 9:30):`],
  ['Thunderbird, Hungarian', '2026. 11. 21. 9:30 keltezéssel, Ada írta:'],
  ['Gmail, Romanian', `sâm., 21 nov. 2026 la 09:30, ${ADA} a scris:`],
  ['Yahoo, Romanian', `În sâmbătă, 21 noiembrie 2026 la 09:30:00 EET, ${ADA} a scris:`],
  ['Gmail, Catalan', `El ds., 21 de nov. 2026 a les 9:30, ${ADA} va escriure:`],
  ['older Gmail, Catalan', `Missatge de ${ADA} del dia ds., 21 de nov. 2026 a les 9:30:`],
  ['Gmail, Greek', `Στις Σάβ 21 Νοε 2026 στις 9:30 π.μ., ο/η ${ADA} έγραψε:`],
  ['Yahoo, Greek', `Στις Σάββατο, Νοεμβρίου 21, 2026, 9:30 πμ, ο χρήστης ${ADA} έγραψε:`],
  ['Thunderbird, Greek', 'Στις 2026-11-21 09:30, Ada Lovelace έγραψε:'],
  ['Gmail, Bulgarian', `На сб, 21.11.2026 г. в 9:30 ${ADA} написа:`],
  ['Thunderbird, Bulgarian', 'На 21.11.2026 г. 09:30 ч., Ada Lovelace написа:'],
  ['Gmail, Indonesian', `Pada Sab, 21 Nov 2026 pukul 09.30 ${ADA} menulis:`],
  ['older Gmail, Indonesian', `Pada tanggal Sab, 21 Nov 2026 09.30 ${ADA} menulis:`],
  ['Gmail, Vietnamese', `Vào Th 7, 21 thg 11, 2026 vào lúc 09:30 ${ADA} đã viết:`],
  ['Gmail, Thai', `เมื่อ ส. 21 พ.ย. 2026 เวลา 09:30 ${ADA} เขียนว่า:`],
  ['Gmail, Thai, Buddhist year', `เมื่อ ส. 21 พ.ย. 2569 เวลา 09:30 ${ADA} เขียนว่า:`],
  ['Gmail, Hindi', `शनि, 21 नव॰ 2026 को 9:30 am बजे ${ADA} ने लिखा:`],
  [
    'Gmail, Hebrew',
    '\u202bבתאריך שבת, 21 בנוב׳ 2026 ב-9:30 מאת \u202aAda\u202c\u200f <\u202aada@example.com\u202c\u200f>:\u202c',
  ],
  ['Gmail, Hebrew, with a verb', `בתאריך יום ב׳, 21 בספט׳ 2026 ב-10:15 מאת ${ADA} כתב/ה:`],
  [
    'Gmail, Arabic',
    '\u202bفي السبت، 21 نوفمبر 2026 في 9:30 ص كتب \u202aAda\u202c\u200f <\u202aada@example.com\u202c\u200f>:\u202c',
  ],
  ['Gmail, Arabic digits', `في السبت، ٢١ نوفمبر ٢٠٢٦ في ٩:٣٠ ص كتب ${ADA}:`],
  ['Yahoo, Arabic', `في السبت، 21 نوفمبر 2026 في 9:30:00 ص غرينتش، ${ADA} كتب/كتبت:`],
  ['old Gmail, short offset', `2026-11-21 9:30 GMT+1 'Ada' via Support <ada@example.com>:`],
  ['old Gmail', '2026-11-21 9:30 GMT+01:00 Ada <\nada@example.com>:'],
];
const OUTLOOK: [string, string][] = [
  ['English', 'From: Ada <ada@example.com>\nSent: Friday, 21 November 2026 09:30\nTo: Bob\nSubject: Order'],
  ['English, bold', '*From:* Ada <ada@example.com>\n*Sent:* Friday\n*To:* Bob\n*Subject:* Order'],
  ['German', 'Von: Ada <ada@example.com>\nGesendet: Freitag, 21. November 2026 09:30\nAn: Bob\nBetreff: Order'],
  ['French', 'De : Ada <ada@example.com>\nEnvoyé : vendredi 21 novembre 2026\nÀ : Bob\nObjet : Order'],
  ['French, without spaces', 'De : Ada\nEnvoyé le :jeudi 15 décembre 2016\nÀ : Bob\nObjet :Order'],
  ['Spanish', 'De: Ada <ada@example.com>\nEnviado el: viernes\nPara: Bob\nAsunto: Order'],
  ['Japanese', '差出人: Ada <ada@example.com>\n送信日時: 2026年11月21日\n宛先: Bob\n件名: Order'],
  ['Japanese, full-width', '差出人：Ada <ada@example.com>\n日時：2026年11月21日\n宛先：Bob\n件名：Order'],
  ['Chinese', '发件人: Ada <ada@example.com>\n日期: 2026年11月21日\n收件人: Bob\n主题: Order'],
  ['Hungarian', 'Feladó: Ada <ada@example.com>\nElküldve: 2026. november 21.\nCímzett: Bob\nTárgy: Order'],
  ['Romanian', 'De la: Ada <ada@example.com>\nTrimis: sâmbătă, 21 noiembrie 2026\nCătre: Bob\nSubiect: Order'],
  ['Slovak', 'Od: Ada <ada@example.com>\nOdoslané: sobota 21. novembra 2026\nKomu: Bob\nPredmet: Order'],
  ['Ukrainian', 'Від: Ada <ada@example.com>\nНадіслано: субота, 21 листопада 2026\nКому: Bob\nТема: Order'],
  ['GMX', 'Gesendet: Samstag, 21. November 2026 um 09:30 Uhr\nVon: "Ada" <ada@example.com>\nAn: Bob\nBetreff: Order'],
  ['date first', 'Date: Sat, 21 Nov 2026 09:30:00 +0100\nFrom: Ada <ada@example.com>\nTo: Bob\nSubject: Order'],
  ['Turkish', 'Gönderen: Ada <ada@example.com>\nTarih: 21 Kasım 2026\nKime: Bob\nKonu: Order'],
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
    expect(replyParts(`Yes, please.\n\n${'-'.repeat(40)}\n\n${header}\n\nShall I?`).reply).toBe('Yes, please.');
    expect(replyParts(`Yes, please.\n\n${header}\n\nShall I?`).reply).toBe('Yes, please.');
  });

  it.each([
    'Importance: High',
    'Attachments: a.pdf',
    'Wichtigkeit: Hoch',
    'Anlagen: a.pdf',
    'Pièces jointes : a.pdf',
    'Importancia: Alta',
    'Urgentie: Hoog',
    'Kopie: Bob',
    'Важность: Высокая',
    '添付ファイル: a.pdf',
  ])('quoted headers with %j are left out', (header) => {
    expect(replyParts(`Yes, please.\n\n${OUTLOOK[0]![1]}\n${header}\n\nShall I?`).reply).toBe('Yes, please.');
  });

  it.each([
    'Subject: A long subject about your order of Friday, which the client wraps into\na second line',
    'Subject:',
  ])('quoted headers that end with %j are left out', (subject) => {
    const header = `From: ${ADA}\nSent: Friday, 21 November 2026 09:30\nTo: Bob\n${subject}`;

    expect(replyParts(`Yes, please.\n\n${header}\n\nShall I?`).reply).toBe('Yes, please.');
  });

  it('a message that Outlook quotes in HTML is left out, with the line above it', () => {
    const html =
      '<div>Yes, please.</div><hr tabindex="-1"><div id="divRplyFwdMsg"><b>From:</b> Ada &lt;ada@example.com&gt;<br>' +
      '<b>Sent:</b> Friday<br><b>To:</b> Bob<br><b>Subject:</b> Order</div><div>Shall I?</div>';

    expect(replyParts(htmlToText(html)!).reply).toBe('Yes, please.');
  });

  it.each([
    '-----Original Message-----',
    '---------- Forwarded message ---------',
    '-----Ursprüngliche Nachricht-----',
    "-----Message d'origine-----",
    '-----Mensaje original-----',
    '-----Исходное сообщение-----',
    '-------- Oprindelig besked --------',
    '---------- Původní e-mail ----------',
    '------------------ Original ------------------',
    '----- Message transmis -----',
    '-------- Välitetty viesti / Fwd.Msg --------',
    'Begin forwarded message:',
    'Anfang der weitergeleiteten Nachricht:',
    'Début du message réexpédié :',
    'Inicio del mensaje reenviado:',
    'Начало переадресованного сообщения:',
    'İleti başlangıcı:',
    '下面是被转发的邮件：',
    '---- On Sat, 21 Nov 2026 09:30:00 +0100 ada@example.com wrote ----',
  ])('a message below %s is left out', (separator) => {
    expect(replyParts(`Yes.\n\n${separator}\nFrom: Ada\n\nShall I?`).reply).toBe('Yes.');
  });

  it('a message that Apple Mail forwards with ">" is left out, with the line above it', () => {
    const text = `Please help.\n\nBegin forwarded message:\n\n> From: ${ADA}\n> Date: 21 November 2026\n>\n> Shall I?`;

    expect(replyParts(text).reply).toBe('Please help.');
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
    ['a form of three fields', 'From: Berlin\nTo: Hamburg\nDate: 13 February\n\nIs that right?'],
    ['a line', 'a\n____________________\nb'],
    ['dashes', 'a\n---\nb'],
    ['dashes above a paragraph', `a\n${'-'.repeat(40)}\nb`],
    ['a sentence about a letter', 'On the phone he wrote:\nplease call me.'],
    ['a French sentence about a letter', 'Le client a écrit :\nAppelez-moi.'],
    ['an Italian sentence about a letter', 'Il cliente ha scritto:\nChiamami.'],
    ['a Japanese heading with a date', '2026年11月21日の予定:\n10時 会議'],
    ['a Korean heading with a year', '2026년 목표 작성:\n하나'],
    ['a long text without line breaks', 'word '.repeat(1_000).trim()],
    ['nothing', ''],
  ])('%s is no quote', (_what, text) => {
    expect(replyParts(text)).toEqual({ reply: text, signature: null });
  });
});

describe('an ambiguous text', () => {
  it.each(['Yes, please.', 'The log says:\n\nFrom: a@x.test\nDate: today\nTo: b@x.test\n\nWhat is wrong?'])(
    'headers below %j start a quote',
    (own) => {
      expect(replyParts(`${own}\n\n${OUTLOOK[0]![1]}\n\nShall I?`).reply).toBe(own);
    },
  );

  it.each([
    '12.03.2026 10:00 the following error occurred for <user@example.com>:\nFatal error 17. Please help.',
    '2026-03-12 10:00:01 Delivery to <user@example.com>:\n550 rejected\nWhat does it mean?',
    'пт, 13 марта 2026 г. в 10:00 произошла ошибка для <user@example.com>:\nПомогите.',
    'Friday, 13 March 2026, 10:00 the delivery failed for <user@example.com>:\nPlease help.',
    'Op 12-3-2026 heeft uw collega geschreven dat:\nalles ok is. Dat klopt niet.',
    'I see this in the log:\n---- at 12:00 the server wrote ----\nERROR 5. Please help',
    'I see this in the log:\n---- On 12 March 2026 at 12:00 the server wrote ----\nERROR 5. Please help',
    'The texts:\n--- Original ---\none\n--- Copy ---\ntwo',
    'Where was it sent from?\nSent with Android',
    'Am 12.3.2026 schrieb ich Ihnen Folgendes:\nMein Gerät ist kaputt.',
    'Am 12.03.2026 um 10:00 schrieb ich Ihnen Folgendes:\nMein Gerät ist kaputt.',
    'On the 3rd of May 2026 you wrote:\nthat it is free.',
    'On 3 May 2026 at 10:00 the server wrote:\nERROR 5.',
    'On 3 May 2026 at 10:00 I wrote:\nplease help.',
    'On 3 May 2026 I told bob@example.com this, and he wrote:\nno.',
    'Am 3.5.2026 schrieb ich an bob@example.com Folgendes:\nBitte helfen.',
    'Am 3.5.2026 hat Ihr Kollege an bob@example.com Folgendes geschrieben:\nBitte helfen.',
    'Am 3.5.2026 um 10:00 hat Ihr Kollege Folgendes geschrieben:\nBitte helfen.',
    'Am 3.5.2026 um 10:00 schrieb Ihr Kollege:\nNein.',
    'On the form, Ada <ada@example.com> wrote:\nplease call me.',
    'My colleague Ada <ada@example.com> wrote:\nplease call me.',
    'Le 12/03/2026 votre collègue a écrit :\nAppelez-moi.',
    'Il giorno 12.3.2026 il tecnico ha scritto:\nChiamami.',
    'Den 12.3.2026 skrev jeg til jer om følgende:\nRing til mig.',
    'El 12/03/2026 su colega escribió:\nLlámeme.',
    'Em 12/03/2026 seu colega escreveu:\nLigue-me.',
    'Ευχαριστώ.\nΣτις 3 Μαρτίου 2026 ο πελάτης έγραψε:\nόλα καλά.',
    'На 3.5.2026 г. колегата ви написа:\nобадете се.',
    'Pada 3 Mei 2026 rekan Anda menulis:\nhubungi saya.',
    'Vào ngày 3 tháng 5 năm 2026 đồng nghiệp đã viết:\ngọi cho tôi.',
    'เมื่อวันที่ 3 พฤษภาคม 2569 เวลา 10:00 เพื่อนร่วมงาน เขียนว่า:\nโทรหาฉัน',
    'בתאריך 3.5.2026 הלקוח כתב:\nהכול בסדר.',
    'في 3 مايو 2026 كتب لنا العميل:\nكل شيء جيد.',
    'El 3.5.2026 el vostre company va escriure:\ntruqueu-me.',
    '2026年3月12日您的同事写道：\n请回复。',
    'To reproduce:\nFrom: a@b.c\nTo: d@e.f\nSubject: test\nand then the server crashes. Why?',
    'To reproduce:\nFrom: a@b.c\nTo: d@e.f\nSubject: test\n\nand then the server crashes. Why?',
    'To reproduce:\nFrom: a@b.c\nDate: today\nTo: d@e.f\nSubject: test\n\nand then the server crashes. Why?',
    'Hi,\n\nFrom: a@b.c\nDate: today\nTo: d@e.f\nSubject: test\nand then the server crashes. Why?',
    'Hi,\n\nFrom: a@b.c\nDate: today\nTo: d@e.f\nSubject: test\nand then the server crashes.\n\nWhy?',
    'Hi,\n\nFrom: a@b.c\nDate: today\nTo: d@e.f\nSubject: test\nMessage-ID: <a@b.c>\n\nWhy?',
    'The log says:\n\nFrom: a@x.test\nTo: b@x.test\nDate: 3 May 2026\nSubject: y\n\nWhat is wrong?',
    'The log says:\n\n\nDate: 3 May 2026\nFrom: a@x.test\nTo: b@x.test\nSubject: y\n\nWhat is wrong?',
    'I see this text:\n\nOn 3 May 2026 at 10:00, Ada <ada@example.com> wrote:\n\nOld text\n\nWhat is wrong?',
    'I see this text:\n\nOn 3 May 2026 at 10:00, Ada\n<ada@example.com> wrote:\n\nOld text\n\nWhat is wrong?',
    'Date: 3 May\nFrom: Berlin\nTo: Hamburg\n\nIs that right?',
  ])('stays: %j', (text) => {
    expect(replyParts(text)).toEqual({ reply: text, signature: null });
  });

  it('text below the quote is not part of the signature above the quote', () => {
    const text = 'Question 1\n-- \nAda\n\nOn 5 Jan 2026, Bob <b@x.y> wrote:\n> old\n\nand my answer below the quote';

    expect(replyParts(text)).toEqual({
      reply: 'Question 1\n-- \nAda\n\n\nand my answer below the quote',
      signature: null,
    });
    expect(replyParts(`${text}\n-- \nAda`).signature).toBe('Ada');
  });
});

describe('a text of which nothing would remain', () => {
  it.each([
    '>100 EUR is too much',
    '> Shall I?\n>\n> Ada',
    `On Friday, ${ADA} wrote:\n> Shall I?`,
    `---------- Forwarded message ---------\nFrom: ${ADA}\n\nShall I?`,
    `${OUTLOOK[0]![1]}\n\nShall I?`,
  ])('stays: %j', (text) => {
    expect(replyParts(`${text}\r\n`.replaceAll('\n', '\r\n'))).toEqual({ reply: text, signature: null });
  });

  it('loses the quote if a signature remains', () => {
    expect(replyParts(`Sent from my iPhone\n\nOn Friday, ${ADA} wrote:\n> Shall I?`)).toEqual({
      reply: '',
      signature: 'Sent from my iPhone',
    });
  });
});

describe('a line that starts with a comparison', () => {
  it.each(['>100 EUR is too much.\n\nAda', 'Two reasons:\n>= 5 users see the error\nPlease help'])(
    'stays: %j',
    (text) => {
      expect(replyParts(text)).toEqual({ reply: text, signature: null });
    },
  );

  it('below an attribution line is left out', () => {
    expect(replyParts(`Yes.\n\nOn Friday, ${ADA} wrote:\n\n> 5 or 6?`).reply).toBe('Yes.');
  });
});

describe('the first line of an attribution', () => {
  it.each<[string, string]>([
    ['a date first', `On Fri, 21 Nov 2026 at 09:30, ${ADA} wrote:`],
    ['a name first', `${ADA} schrieb am Freitag, 21. November 2026 um 09:30:00 MEZ:`],
  ])('%s: the line above it stays', (_what, introduction) => {
    const own = 'On Friday 21 I am out, and on 22\nAda <ada@example.com> is\nIn 2026 all is well';

    expect(replyParts(`${own}\n${introduction}\n\nShall I?`).reply).toBe(own);
    expect(replyParts(`${own}\n${introduction}\n> Shall I?`).reply).toBe(own);
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
    'Sent from my Galaxy S9+',
    'Sent from my Verizon, Samsung Galaxy smartphone',
    'Sent from my T-Mobile 4G LTE Device',
    'Sent from my BlackBerry 10 smartphone on the Verizon network.',
    'Sent from my mobile phone',
    'Sent from Yahoo Mail [https://mail.yahoo.com] for iPhone',
    'Sent from Outlook for iOS<https://aka.ms/x>',
    'Sent from Mail for Windows 10',
    'Sent with Proton Mail secure email.',
    'Sent via the Samsung Galaxy S7, an AT&T 4G LTE smartphone',
    'Sent from Spark',
    'Sent from Spark for Android',
    'Sent from HEY',
    'Sent from my mobile. Please excuse typos.',
    'Sent from handheld, please excuse any typos and my brevity.',
    'Sent from mobile; pls excuse typos',
    'Sent from my iPhone\nPlease excuse typos.',
    'Get Outlook for Android<https://aka.ms/x>',
    'Get Outlook for iOS [https://aka.ms/o0ukef]',
    'Von meinem iPhone gesendet',
    'Von meinem Samsung Galaxy Smartphone gesendet.',
    'Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.',
    'Gesendet von Mail für Windows',
    'Gesendet mit der GMX Mail App',
    'Envoyé de mon iPhone',
    'Envoyé à partir de Outlook pour iOS<https://aka.ms/o0ukef>',
    'Télécharger Outlook pour Android',
    'Enviado desde mi iPhone',
    'Enviado do meu smartphone Samsung Galaxy',
    'Inviato da iPhone',
    'Inviato dal mio smartphone Samsung Galaxy.',
    'Verstuurd vanaf mijn iPhone',
    'Verzonden met Outlook voor iOS',
    'Skickat från min iPhone',
    'Sendt fra min iPhone',
    'Lähetetty iPhonesta',
    'Wysłane z iPhone’a',
    'Odesláno z iPhonu',
    'Odoslané z iPhonu',
    'Отправлено с iPhone',
    'Отправлено из мобильной Почты Mail.ru',
    'Надіслано з iPhone',
    'iPhone’umdan gönderildi',
    'Trimis de pe iPhone-ul meu',
    'iPhoneから送信',
    '发自我的iPhone',
    '从我的 iPhone 发送',
    '從我的 iPhone 傳送',
    '나의 iPhone에서 보냄',
  ])('%s', (line) => {
    expect(replyParts(`Yes.\n\n${line}\n\nOn Friday, ${ADA} wrote:\n> Shall I?`)).toEqual({
      reply: 'Yes.',
      signature: line,
    });
  });

  it.each([
    'Get Outlook for iOS<https://aka.ms/o0ukef>',
    'This e-mail is confidential and may be privileged.\nIf you are not the intended recipient, delete it.',
    'Diese E-Mail enthält vertrauliche Informationen.',
    'Ce message et toutes les pièces jointes sont confidentiels.',
  ])('a phone line stays with the notice below it: %s', (notice) => {
    const signature = `Sent from my iPhone\n\n${notice}`;

    expect(replyParts(`Yes.\n\n${signature}\n`)).toEqual({ reply: 'Yes.', signature });
  });

  it.each([
    'Sent from my old address by mistake, sorry.\nThe order number is 4711.',
    'Sent from my old address by mistake, sorry.',
    'Sent from my iPhone\n\nYes, please ship it.',
    'Sent from my iPhone\nPlease excuse typos\n\nYes, please ship it',
    'Sent from my iPhone\n\nThis e-mail is confidential.\n\nYes, please ship it.',
    'Sent from my phone will be the next order, number 4711.',
    'Sent from my desk, is much easier then my mobile phone.',
    'Sent from Yahoo Mail yesterday, did it arrive?',
    'Sent from my mobile. Please excuse the delay of the order.',
    'Sent from my mobile. Please excuse typos, but when does it arrive?',
    'Please excuse the errors in the order.',
    'Gesendet von Berlin nach Hamburg am Montag.',
    'Gesendet mit DHL, Nummer 4711',
    'Von meinem Kollegen habe ich das Handy nicht gesendet',
    'Envoyé depuis Paris le 3 mars',
    'Enviado desde el almacén ayer',
    'Inviato dall’ufficio ieri',
    'Verzonden met PostNL, 4711',
    'Sendt fra Oslo i går',
    'iPhone bugün gönderildi',
    '发自我的旧地址，抱歉',
    '從我的 地址 傳送',
  ])('the text stays: %j', (text) => {
    expect(replyParts(text)).toEqual({ reply: text, signature: null });
    expect(replyParts(`Hi,\n\n${text}\n`)).toEqual({ reply: `Hi,\n\n${text}`, signature: null });
  });

  it('a phone line below a separator belongs to the signature', () => {
    expect(replyParts('Yes.\n-- \nBob\nSent from my iPhone')).toEqual({
      reply: 'Yes.',
      signature: 'Bob\nSent from my iPhone',
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
    ['one line of starts of introductions', 'On '.repeat(350_000)],
    ['one line of addresses', 'Ada <ada@example.com> wrote 2026 10:00 '.repeat(25_000)],
    ['one line of separators', '---- On wrote '.repeat(80_000)],
    ['one line of phones', 'Sent from my iPhone '.repeat(50_000)],
    ['a million links', `Sent from my iPhone${'<https://x'.repeat(100_000)}`],
    ['apologies', 'Sent from my mobile. Please excuse typos\n'.repeat(20_000)],
    ['notices', 'Sent from my iPhone\nThis e-mail is confidential\n'.repeat(20_000)],
    ['introductions in Arabic', `في 2026 ${'كتب Ada <a@b.c> '.repeat(17)}x:\n`.repeat(3_400)],
    ['direction marks', `:${'\u202b'.repeat(1_000_000)}x`],
    ['lines of direction marks', `:${'\u202b'.repeat(200)}\n`.repeat(5_000)],
    ['introductions with many years in Russian', `пн ${'2026'.repeat(73)}:\n`.repeat(3_400)],
  ])('%s: it is read in linear time', async (_what, text) => {
    expect(await growthOf(text, replyParts)).toBeLessThan(LINEAR);
  });
});
