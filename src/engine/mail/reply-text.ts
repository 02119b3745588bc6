import { FORWARD_TITLES, FROM_NAMES, OTHER_HEADER_NAMES, SENT_NAMES, SEPARATOR_TITLES } from './reply-words.js';

/** A reply without the messages that it quotes. */
export interface ReplyParts {
  /** Text without quoted messages, their attribution lines and the signature. */
  reply: string;
  /** Signature without its separator. Null if the reply has no signature. */
  signature: string | null;
}

/** Maximum number of lines of an attribution line, which mail clients wrap. */
const INTRODUCTION_LINES_MAX = 4;
/** Maximum length of an attribution line. A longer paragraph that ends with a colon is ordinary text. */
const INTRODUCTION_CHARACTERS_MAX = 300;
const SIGNATURE_LINES_MAX = 15;
const HEADER_LINES_MIN = 3;
/** Minimum number of quoted headers without an address. A form with "From", "To" and "Date" has fewer. */
const PLAIN_HEADER_LINES_MIN = 4;

/** Invisible marks around names in right-to-left text. */
const DIRECTION_MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const COLON_AT_END = new RegExp(`[:：]${DIRECTION_MARKS.source}*$`);
const ADDRESS = String.raw`<\s?[^<>\s]+@[^<>\s]+\s?>`;
/** Word of a name: a capitalized word, a word of a script without capitals, or a particle such as "van". */
const NAME_WORD = String.raw`(?:[\p{Lu}\p{Lt}\p{Lo}][\p{L}\p{M}\d.'’&|_-]*|v[ao]n|de[rlns]?|d[aiou]s?|l[ae]|el|al|bin|of|via|&)`;
/** Name in front of an address. Without these limits, "an error occurred for <ada@example.com>:" is a name, too. */
const NAME = String.raw`(?:"[^"]{1,80}"|'[^']{1,80}'|${NAME_WORD})(?:,?\s(?:${NAME_WORD}|\([^()]{1,40}\))){0,5}`;
/** Time, name and address at the end of attribution lines without a verb. */
const TIME_AND_SENDER = String.raw`\d[:.]\d\d(?:[:.]\d\d)?(?:\s?[AP]M)?(?:\s?[A-Z]{3,4})?(?:\s?[+-]\d\d?(?::?\d\d)?)?(?:\s(?:от|from))?\s?[,，、]?\s?(?:${NAME}\s?)?${ADDRESS}`;
/** Verbs of attribution lines that start with a name. */
const WROTE = String.raw`(?:wrote|writes|schrieb|a écrit|escribió|escreveu|ha scritto|schreef|skrev|kirjoitti|napisał(?:a|\(a\))?|napsala?|пишет|написала?|пише|написав|şunları yazdı|ezt írta|a scris)`;

/**
 * Patterns of attribution lines above quoted messages that start with a date, by language. Each pattern matches an
 * unwrapped line, including its start: a sentence such as "My colleague wrote:" is not an attribution line. Lookaheads
 * match a year or a word inside the line, because `.*\d{4}.*` takes quadratic time.
 */
const DATE_FIRST: readonly RegExp[] = [
  // English: "On Fri, 21 Nov 2026 at 09:30, Ada <ada@example.com> wrote:"
  /^On\b.*\bwrote:$/i,
  /^At \d{4}-\d.*\bwrote:$/,
  // German: "Am Fr., 21. Nov. 2026 um 09:30 Uhr schrieb Ada <ada@example.com>:"
  /^Am\b(?=.*\bschrieb\b).*:$/i,
  // Yahoo: "Am Samstag, 21. November 2026 um 09:30:00 MEZ hat Ada <ada@example.com> Folgendes geschrieben:"
  new RegExp(`^Am\\s(?=.*\\d{4}).*\\shat\\s(?:${NAME}\\s)?${ADDRESS}\\sFolgendes geschrieben:$`, 'u'),
  // French: "Le ven. 21 nov. 2026 à 09:30, Ada <ada@example.com> a écrit :"
  /^Le\b.*\ba écrit\s?:$/i,
  // Spanish: "El vie, 21 nov 2026 a las 9:30, Ada (<ada@example.com>) escribió:"
  /^El\b.*\bescribió:$/i,
  // Portuguese: "Em sex., 21 de nov. de 2026 às 09:30, Ada <ada@example.com> escreveu:"
  /^(?:Em|A|No dia)\b.*\bescreveu:$/i,
  // Italian: "Il giorno ven 21 nov 2026 alle ore 09:30 Ada <ada@example.com> ha scritto:"
  /^(?:Il|In data)\b.*\bha scritto:$/i,
  // Dutch: "Op vr 21 nov 2026 om 09:30 schreef Ada <ada@example.com>:"
  /^Op\b.*\b(?:schreef\b.*|geschreven):$/i,
  // Swedish, Norwegian, Danish: "Den fre 21 nov. 2026 kl 09:30 skrev Ada <ada@example.com>:"
  /^(?:Den|På|\d{1,2}\.?|man\.?|tirs?\.?|ons\.?|tors?\.?|fre\.?|lør\.?|søn\.?)\s(?=.*\bskrev\b).*:$/i,
  // Finnish: "pe 21. marrask. 2026 klo 9.30 Ada (ada@example.com) kirjoitti:"
  /^(?:ma|ti|ke|to|pe|la|su)\b.*\bkirjoitti:$/i,
  // Polish: "pt., 21 lis 2026 o 09:30 Ada <ada@example.com> napisał(a):"
  /^(?=.*\d{4})(?:W dniu|Dnia|\d|(?:pon|wt|śr|czw|pt|sob|niedz)[.,]).*\b(?:napisał(?:a|\(a\))?|pisze):$/i,
  /^Wiadomość napisana przez\s.*\d{4}.*:$/i,
  // Czech, Slovak: "pá 21. 11. 2026 v 9:30 odesílatel Ada <ada@example.com> napsal:"
  /^(?:Dne|Dňa|\d|(?:po|út|ut|st|čt|št|pá|pi|so|ne)[.,]?\s).*\b(?:napsal|napísal)(?:a|\(a\))?:$/i,
  // Russian, Ukrainian: "пт, 21 нояб. 2026 г. в 09:30, Ada <ada@example.com>:"
  new RegExp(`^(?:[Пп]н|[Вв]т|[Сс]р|[Чч]т|[Пп]т|[Сс]б|[Вв]с|[Нн]д)\\P{L}(?=.*\\d{4}).{0,40}${TIME_AND_SENDER}:$`, 'u'),
  /^(?:\d|(?:пн|вт|ср|чт|пт|сб|вс|нд)\P{L}).*\P{L}(?:пишет|написала?|написал\(а\)|пише|написав|написав\(ла\)):$/iu,
  // Mail.ru: "Суббота, 21 ноября 2026, 9:30 +03:00 от Ada <ada@example.com>:"
  new RegExp(
    `^(?:[Пп]онедельник|[Вв]торник|[Сс]реда|[Чч]етверг|[Пп]ятница|[Сс]уббота|[Вв]оскресенье|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day),\\s\\d(?=.*\\d{4}).{0,40}${TIME_AND_SENDER}:$`,
    'u',
  ),
  // Korean: "2026년 11월 21일 (토) 오전 9:30, Ada <ada@example.com>님이 작성:"
  /^\d{4}[년.](?=.*\d:\d).*(?:작성|님이 쓴 글)\s?:$/,
  // Hungarian: "2026. 11. 21. 9:30 keltezéssel, Ada írta:"
  /^\d{4}\.(?=.*\d:\d).*\sírta:$/i,
  // Romanian: "În vin., 21 nov. 2026 la 09:30, Ada <ada@example.com> a scris:"
  /^(?:În|Pe|(?:lun|mar|mie|joi|vin|sâm|dum)\.?,)\s.*\sa scris:$/i,
  // Catalan: "El ds., 21 de nov. 2026 a les 9:30, Ada <ada@example.com> va escriure:"
  /^El\b.*\bva escriure:$/i,
  // Greek: "Στις Σάβ 21 Νοε 2026 στις 9:30 π.μ., ο/η Ada <ada@example.com> έγραψε:"
  /^(?:Στις|Την?)\s(?=.*\d).*\sέγραψε:$/i,
  // Bulgarian: "На сб, 21.11.2026 г. в 9:30 Ada <ada@example.com> написа:"
  /^На\s(?=.*\d).*\sнаписа:$/i,
  // Indonesian: "Pada Sab, 21 Nov 2026 pukul 09.30 Ada <ada@example.com> menulis:"
  /^Pada\s(?=.*\d).*\smenulis:$/i,
  // Vietnamese: "Vào Th 7, 21 thg 11, 2026 vào lúc 09:30 Ada <ada@example.com> đã viết:"
  /^Vào\s(?=.*\d).*\sđã viết:$/i,
  // Thai: "เมื่อ ส. 21 พ.ย. 2569 เวลา 09:30 Ada <ada@example.com> เขียนว่า:"
  /^(?:เมื่อ|ใน|วันที่)(?=.*\d).*\sเขียนว่า:$/,
  // Hindi: "शनि, 21 नव॰ 2026 को 9:30 am बजे Ada <ada@example.com> ने लिखा:"
  /^(?=.*\d{4}).*\sने लिखा:$/,
  // Hebrew: "בתאריך שבת, 21 בנוב׳ 2026 ב-9:30 מאת Ada <ada@example.com>:"
  new RegExp(`^בתאריך\\s(?=.*\\d{4}).*\\sמאת\\s(?:${NAME}\\s)?${ADDRESS}(?:\\sכתב(?:ה|/ה)?)?:$`, 'u'),
  /^(?:בתאריך\s|ב-?)(?=.*\d).*\sכתב(?:ה|\/ה|\(ה\))?:$/,
  // Arabic: "في السبت، 21 نوفمبر 2026 في 9:30 ص كتب Ada <ada@example.com>:"
  new RegExp(
    `^(?:في|بتاريخ)\\s(?=.*\\d{4})(?:.*\\s(?:كتب|كتبت|كتب/كتبت)\\s(?:${NAME}\\s)?${ADDRESS}|.*${ADDRESS}\\s(?:كتب|كتبت|كتب/كتبت))\\s?:$`,
    'u',
  ),
  // Numeric dates, Japanese: "2026年11月21日(土) 9:30 Ada <ada@example.com>:"
  new RegExp(
    `^(?=\\d)(?=.*\\d{4})(?:[\\d\\s.,/()（）-]|\\p{Lo}|\\p{Ll}{1,3}(?!\\p{L})){0,40}${TIME_AND_SENDER}(?:の(?:メール|メッセージ))?\\s?[:：]$`,
    'u',
  ),
];

/** Patterns of attribution lines that start with a name, or with an unknown word. */
const NAME_FIRST: readonly RegExp[] = [
  // "Ada <ada@example.com> wrote:", "Ada <ada@example.com> schrieb am Freitag, 21. November 2026 um 09:30:00 MEZ:"
  new RegExp(`^(?:${NAME}\\s)?${ADDRESS}\\s${WROTE}(?:\\s(?=.*\\d).*)?\\s?:$`, 'u'),
  // Dutch, Finnish: "Ada schreef op 2026-11-21 09:30:"
  /^[^<>:]*\s(?:schreef op|kirjoitti)\s\d[\d./-]{5,}\s(?:klo\s)?\d[\d.:]+:$/i,
  // Turkish: "Ada <ada@example.com>, 21 Kas 2026 Cum, 09:30 tarihinde şunu yazdı:"
  /^(?=.*\btarihinde\b).*\byazdı:$/i,
  // Catalan: "Missatge de Ada <ada@example.com> del dia ds., 21 de nov. 2026 a les 9:30:"
  new RegExp(`^Missatge de (?:${NAME}\\s)?${ADDRESS} del dia (?=.*\\d).*:$`, 'u'),
  // Chinese: "Ada <ada@example.com> 于2026年11月21日周六 09:30写道：", "Ada <ada@example.com> 於 2026年11月21日 寫道："
  /^(?=.*\d{4}[年/-]\d).*(?:写道|寫道)\s?[:：]$/,
];

/** A year, also of the Buddhist calendar, or a numeric date. */
const DATE = /\b(?:19|20|25)\d\d(?!\d)|\d[./-]\s?\d{1,2}[./-]/;
const TIME = /(?<![\d.:])\d{1,2}(?::\d\d|\.\d\d(?![\d.]))/;
/** Verbs at the end of attribution lines. */
const WROTE_AT_END = String.raw`(?:wrote|a écrit|escribió|escreveu|ha scritto|schreef op|kirjoitti|napísal|napsal|napisał|pisze|пишет|написал|пише|написав|yazdı|írta|a scris|va escriure|έγραψε|написа|menulis|đã viết)(?!\p{L}{2})`;
/** A name directly before or after the verb. "The server wrote:" and "Am Montag schrieb ich:" have none. */
const NAMED = new RegExp(
  String.raw`[\p{Lu}\p{Lo}"'’]\S*,?\s(?:${WROTE_AT_END}|(?:geschreven|skrev)\s?:)|\s(?:schrieb|schreef|skrev)\s["'\p{Lu}]|[\p{L}"]\s?(?:写道|寫道|님이 작성|님이 쓴 글)|\p{L}\s작성`,
  'u',
);
/** A pronoun is the subject, or other words stand between an address and the verb. */
const NOT_BY_SENDER = new RegExp(
  String.raw`\b(?:I|You|We|He|She|They) wrote|schrieb(?:en)? (?:Ihr|Sie)|\s(?:schrieb|schreef|skrev)\s(?!\S*@|v[ao]n\s|de\s|op\s)\p{Ll}|@\S*\s(?:.*\s)?[^\s@]+\s${WROTE_AT_END}`,
  'u',
);

/** Separator lines above a quoted message. Clients write them in the user's language. */
const SEPARATORS = new RegExp(
  String.raw`^(?:[-_]{2,}\s*(?:${SEPARATOR_TITLES})\s*[-_]{2,}|(?:${FORWARD_TITLES})\s?[:：]|-{10,}\s?Original\s?-{10,}|_{20,}|-{20,})$`,
  'i',
);

/** Separator line of Zoho: "---- On Sat, 21 Nov 2026 09:30:00 +0100 ada@example.com wrote ----". */
const ZOHO = /^-{3,}\s?(On\s.{0,300}\swrote)\s?-{3,}$/;

const nameSet = (names: string): Set<string> => new Set(names.toLowerCase().split('|'));
const FROM = nameSet(FROM_NAMES);
const SENT = nameSet(SENT_NAMES);
const HEADERS = nameSet(`${FROM_NAMES}|${SENT_NAMES}|${OTHER_HEADER_NAMES}`);
const HEADER = /^\*?([^:：*]{1,40}?)(?:\*?\s?:\*?(?:\s|$)|\s?：|\s:)/;
/** Maximum number of lines of quoted headers. */
const QUOTED_HEADER_LINES_MAX = 12;
/** Range of line lengths at which clients wrap plain text. */
const WRAP_COLUMNS = { min: 60, max: 80 } as const;

/** Maximum length of the line that a phone adds. */
const PHONE_CHARACTERS_MAX = 200;
/** Devices, apps and providers in the lines that phones add. Some languages append an ending to the name. */
const DEVICE = String.raw`(?:iPhon|iPad|iPod|Android|Samsung|Galaxy|Black[Bb]erry|Huawei|Xiaomi|Redmi|Pixel|OnePlus|Nokia|Lumia|HTC|LG|Sony|Xperia|Moto|Oppo|OPPO|Wiko|Fairphone|Windows|Surface|MacBook|Outlook|Yahoo|Proton|Gmail|GMX|WEB\.DE|AOL|K-9|TypeApp|Blue ?Mail|Spark|HEY|Superhuman|Airmail|eM Client|FairEmail|Mailspring|Shortwave|Thunderbird|Mail\.ru|Verizon|T-Mobile|AT&T|[Ss]mart[Pp]hone|[Mm]obile|[Pp]hone|[Tt]ablet|[Hh]andheld|[Dd]evice|Handy|[Mm]obiltelefon|[Tt]éléphone|[Mm]óvil|[Cc]elular|[Tt]elemóvel|[Cc]ellulare|[Tt]elefo|[Pp]uhelin|[Тт]елефон|手机|手機|平板)[^\s,.;:!?，。！？]*`;
/** Words after the first device: names and models, which start with a capital or a digit, and words between them. */
const DEVICE_WORDS = String.raw`(?:\s(?:[\p{Lu}\d][^\s,;:!?]*|i(?:Phone|Pad|Pod|OS)|on|for|with|the|network|secure|email|mail|app|mobile|phone|smartphone|tablet|wireless|device|für|mit|der|pour|para|per|su|voor|för|på|no|do|de|meu|dla|pro|для|на)|,\s(?:an?\s)?${DEVICE})*`;
/** Apology after the line that a phone adds, such as "Please excuse typos." */
const APOLOGY = String.raw`(?:(?:[Pp]lease|[Pp]ls)\s)?(?:[Ee]xcuse|[Ff]orgive|[Pp]ardon)\s[^.?!:;\n]{0,60}\b(?:typos?|brevity|errors|mistakes|misspellings|autocorrect)\b[^.?!:;\n]{0,40}[.!]?`;
const APOLOGY_ONLY = new RegExp(`^${APOLOGY}$`);
const BEFORE_DEVICE = String.raw`(?:[^.,;:!?]{0,30}[\s’'])?`;
/** Lines that phones add at the end of a message, such as "Sent from my iPhone". */
const PHONES: readonly RegExp[] = [
  `(?:[Ss]ent (?:from|via|with)|Gesendet (?:von|mit)|Envoyé (?:de|depuis|à partir)|Enviado (?:desde|do|da|a partir)|Inviato (?:da|dal|dalla)|(?:Verstuurd|Verzonden) (?:vanaf|met)|Skickat från|Sendt fra|Lähetetty|Wysłan[eo] z|Odesláno z|Odoslané z|Отправлено (?:с|из)|Надіслано з|Trimis (?:de pe|din)) ${BEFORE_DEVICE}${DEVICE}${DEVICE_WORDS}\\.?(?:[,;]?\\s${APOLOGY})?`,
  `(?:Diese (?:Nachricht|E-Mail) wurde v|V)on mein(?:em|er) ${BEFORE_DEVICE}${DEVICE}${DEVICE_WORDS} gesendet\\.?`,
  `(?:Get|Télécharger|Obtener|Obter o|Scarica|Ottieni|Hämta|Hent|Pobierz) Outlook (?:for|pour|para|per|för|til|dla) (?:iOS|Android|Mac)`,
  `Outlook (?:für|voor) (?:iOS|Android|Mac) (?:beziehen|herunterladen|downloaden)`,
  `${DEVICE}(?:\\s?から送信(?:しました)?|d[ae]n gönderildi|r[óő]l küldve)`,
  `[发發]自(?:我的)?\\s?[^\\s,.，。！？]{0,12}${DEVICE}`,
  `[从從]我的\\s?${DEVICE}\\s?(?:发送|傳送)`,
  `(?:나의|내)\\s${DEVICE}에서\\s?보냄`,
].map((line) => new RegExp(`^${line}$`, 'u'));
const LINK = /\s?[<[(]https?:[^\s<>[\]()]*[>\])]/g;
/** Start of a notice that mail servers and virus scanners add below a message. */
const NOTICE =
  /^(?:This (?:e-?mail|message|communication)|The information|Confidentiality|Disclaimer|Diese (?:E-?Mail|Nachricht)|Ce (?:message|courriel|mail)|Este (?:mensaje|correo|e-?mail)|Esta mensagem|Questa e-?mail|Questo messaggio|Dit (?:e-?mail)?bericht|Deze e-?mail|Virus-free|Virenfrei)\b/i;
const NOTICE_WORD = /confiden|privileged|vertraulich|riservat|vertrouwelijk|virus|viren/i;

/**
 * Splits a message into the reply and the signature, and omits quoted messages, in linear time. Finds `>` quotes,
 * attribution lines in several languages, separators, and headers as Outlook writes them. Keeps text between quotes. If
 * neither a reply nor a signature would remain, the reply is the whole text.
 */
export function replyParts(text: string): ReplyParts {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const { own, lastFrom } = withoutQuotes(lines.slice(0, quotedTailAt(lines)));
  const { from, text: signatureFrom } = signatureOf(own, lastFrom);
  const reply = own.slice(0, from).join('\n').trim();
  const signature = own.slice(signatureFrom).join('\n').trim();
  if (signature !== '') return { reply, signature };
  return { reply: reply === '' ? lines.join('\n').trim() : reply, signature: null };
}

/**
 * Returns the line index at which a quoted message without `>` marks starts. Such a quote extends to the end of the
 * text. Below a line that ends with a colon, such as "The log says:", headers or an attribution line are an example.
 */
function quotedTailAt(lines: readonly string[]): number {
  let above = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!.trim();
    if (line === '') continue;
    if (isSeparator(line) && (!/^[-_]+$/.test(line) || hasQuotedHeaders(lines, at + 1, true))) return at;
    const isExample = /[:：]$/.test(above);
    above = line;
    if (!isExample && isFirstHeader(line) && hasQuotedHeaders(lines, at, false)) return at;
    const length = introductionAt(lines, at);
    if (length === 0) continue;
    const isQuoted = !isFollowedByQuote(lines, at + length) && isCertain(lines.slice(at, at + length));
    if (isQuoted && !isExample) return at;
    // The last line of a wrapped attribution line may look like an attribution line of its own.
    if (isQuoted) at += length - 1;
  }
  return lines.length;
}

function isSeparator(line: string): boolean {
  const introduction = ZOHO.exec(line)?.[1];
  return introduction === undefined ? SEPARATORS.test(line) : isCertain([introduction]);
}

/**
 * Returns whether an attribution line introduces a quote even if no line with `>` follows. It must name a sender and a
 * date. "On the 3rd of May 2026 you wrote:" may be the customer's own text.
 */
function isCertain(introduction: readonly string[]): boolean {
  const line = plainText(introduction.map((part) => part.trim()).join(' '));
  const hasAddress = line.includes('@');
  if (hasAddress && NAME_FIRST.some((pattern) => pattern.test(line))) return true;
  if (!DATE.test(line) || NOT_BY_SENDER.test(line)) return false;
  return hasAddress || (TIME.test(line) && NAMED.test(line));
}

/** Returns the name of the header in a line in lower case, or an empty string. */
const headerName = (line: string): string => HEADER.exec(line)?.[1]!.toLowerCase() ?? '';

/** Returns whether quoted headers may start with a line. Outlook starts with the sender, GMX with the date. */
const isFirstHeader = (line: string): boolean => FROM.has(headerName(line)) || SENT.has(headerName(line));

/** Returns whether a line may continue a list of recipients, or a line that a client wrapped. */
function isContinuation(line: string, above: string): boolean {
  // Clients do not quote headers such as "Message-ID", so the customer pasted the headers of a message.
  if (/^[a-z]+-[a-z-]+:/i.test(line)) return false;
  if (/^\s|[@;]/.test(line)) return true;
  const [word = ''] = line.split(' ', 1);
  return above.length <= WRAP_COLUMNS.max && above.length + 1 + word.length > WRAP_COLUMNS.min;
}

/**
 * Returns whether quoted headers start at `from`. Without a separator above them, they must name a sender and a date,
 * and a blank line must follow: a customer may paste headers as an example.
 */
function hasQuotedHeaders(lines: readonly string[], from: number, isSeparated: boolean): boolean {
  const names: string[] = [];
  let hasAddress = false;
  let isClosed = from + QUOTED_HEADER_LINES_MAX >= lines.length;
  for (let at = from; at < Math.min(from + QUOTED_HEADER_LINES_MAX, lines.length); at += 1) {
    const line = lines[at]!.trim();
    const name = headerName(line);
    if (HEADERS.has(name)) {
      names.push(name);
      hasAddress ||= line.includes('@');
    } else if (line === '' ? names.length > 0 : !isContinuation(lines[at]!, lines[at - 1]!)) {
      isClosed = line === '';
      break;
    }
  }
  if (names.length < (hasAddress ? HEADER_LINES_MIN : PLAIN_HEADER_LINES_MIN)) return false;
  return isSeparated || (isClosed && names.some((name) => FROM.has(name)) && names.some((name) => SENT.has(name)));
}

/**
 * Returns the number of lines of the attribution line that starts at `at`, or 0 if none starts there. If a sentence
 * such as "On Monday I am out" stands directly above an attribution line, only the latter is one.
 */
function introductionAt(lines: readonly string[], at: number): number {
  const dated = wrappedAt(lines, at, DATE_FIRST);
  const length = dated === 0 ? wrappedAt(lines, at, NAME_FIRST) : dated;
  for (let next = 1; next < length; next += 1) {
    const startsLater =
      wrappedAt(lines, at + next, DATE_FIRST) > 0 || (dated === 0 && wrappedAt(lines, at + next, NAME_FIRST) > 0);
    if (startsLater) return 0;
  }
  return length;
}

/** Returns the number of lines from `at` that match a pattern when they are joined, or 0 if they match none. */
function wrappedAt(lines: readonly string[], at: number, patterns: readonly RegExp[]): number {
  let joined = '';
  for (let count = 1; count <= INTRODUCTION_LINES_MAX; count += 1) {
    const line = lines[at + count - 1]?.trim() ?? '';
    // Gmail may wrap a line before the ">" that ends an address.
    if (line === '' || (line.startsWith('>') && line !== '>:')) return 0;
    joined += joined === '' ? line : ` ${line}`;
    if (joined.length > INTRODUCTION_CHARACTERS_MAX) return 0;
    if (!COLON_AT_END.test(line)) continue;
    const plain = plainText(joined);
    if (patterns.some((pattern) => pattern.test(plain))) return count;
  }
  return 0;
}

/** Returns a text without direction marks, and with ASCII digits instead of Arabic digits. */
const plainText = (text: string): string =>
  text.replaceAll(DIRECTION_MARKS, '').replace(/[\u0660-\u0669]/g, (digit) => `${digit.charCodeAt(0) & 15}`);

function isFollowedByQuote(lines: readonly string[], from: number): boolean {
  const next = lines.slice(from, from + 3).find((line) => line.trim() !== '');
  return next?.startsWith('>') ?? false;
}

/**
 * Returns the lines without those that start with `>`, and without the attribution lines directly above them.
 * `lastFrom` is the index of the first line with text below the last quote that has text below it. A single line such
 * as ">100 EUR is too much" without an attribution line is a comparison.
 */
function withoutQuotes(lines: readonly string[]): { own: string[]; lastFrom: number } {
  const own: string[] = [];
  let lastFrom = 0;
  let isBelowQuote = false;
  const quotes = lines.filter((line) => line.startsWith('>'));
  const isComparison = quotes.length === 1 && /^>=?\s?\d/.test(quotes[0]!);
  for (let at = 0; at < lines.length; at += 1) {
    const isQuote = lines[at]!.startsWith('>') && (isBelowQuote || !isComparison);
    const length = isQuote ? 1 : introductionAt(lines, at);
    if (isQuote || (length > 0 && isFollowedByQuote(lines, at + length))) {
      isBelowQuote = true;
      at += length - 1;
      continue;
    }
    if (isBelowQuote && lines[at]!.trim() !== '') [lastFrom, isBelowQuote] = [own.length, false];
    own.push(lines[at]!);
  }
  return { own, lastFrom };
}

/**
 * Returns the line indexes at which the signature starts: `from` with its separator, `text` without it. Both are the
 * number of lines if there is no signature at or below `first`. A separator is `-- ` (RFC 3676, section 4.3), with or
 * without the space, or a line that phones add at the end.
 */
function signatureOf(lines: readonly string[], first: number): { from: number; text: number } {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  for (let at = last; at >= first && at > last - SIGNATURE_LINES_MAX; at -= 1)
    if (/^--\s?$/.test(lines[at]!)) return { from: at, text: at + 1 };
  const from = phoneLineAt(lines, first, last);
  return { from, text: from };
}

/** Returns the index of the first line that a phone added. Only blank lines, further such lines or a notice follow. */
function phoneLineAt(lines: readonly string[], first: number, last: number): number {
  let end = lines.length;
  for (let at = last; at >= first && at > last - SIGNATURE_LINES_MAX; at -= 1) {
    // Below a question, "Sent with Android" may be the answer.
    if (!isPhoneLine(lines[at]!) || /[?？]\s*$/.test(lines[at - 1] ?? '')) continue;
    const below = lines
      .slice(at + 1, end)
      .join('\n')
      .trim();
    if (below !== '' && !isNotice(below)) break;
    end = at;
  }
  return end;
}

function isPhoneLine(line: string): boolean {
  if (line.length > PHONE_CHARACTERS_MAX) return false;
  const text = line.replaceAll(LINK, '').trim();
  return PHONES.some((pattern) => pattern.test(text));
}

/** Returns whether a text is an apology, or one paragraph that mail servers or virus scanners add. */
const isNotice = (text: string): boolean =>
  APOLOGY_ONLY.test(text) || (NOTICE.test(text) && NOTICE_WORD.test(text) && !/\n\s*\n/.test(text));
