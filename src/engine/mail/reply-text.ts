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

/**
 * Patterns of attribution lines above quoted messages, by language. Each pattern matches an unwrapped line, including
 * its start: a sentence such as "My colleague wrote:" is not an attribution line. Lookaheads match a year or a word
 * inside the line, because `.*\d{4}.*` takes quadratic time.
 */
const INTRODUCTIONS: readonly RegExp[] = [
  // English: "On Fri, 21 Nov 2026 at 09:30, Ada <ada@example.com> wrote:"
  /^On\b.*\bwrote:$/i,
  // German: "Am Fr., 21. Nov. 2026 um 09:30 Uhr schrieb Ada <ada@example.com>:"
  /^Am\b(?=.*\bschrieb\b).*:$/i,
  // French: "Le ven. 21 nov. 2026 à 09:30, Ada <ada@example.com> a écrit :"
  /^Le\b.*\ba écrit\s?:$/i,
  // Spanish: "El vie, 21 nov 2026 a las 9:30, Ada (<ada@example.com>) escribió:"
  /^El\b.*\bescribió:$/i,
  // Portuguese: "Em sex., 21 de nov. de 2026 às 09:30, Ada <ada@example.com> escreveu:"
  /^(?:Em|A)\b.*\bescreveu:$/i,
  // Italian: "Il giorno ven 21 nov 2026 alle ore 09:30 Ada <ada@example.com> ha scritto:"
  /^Il\b.*\bha scritto:$/i,
  // Dutch: "Op vr 21 nov 2026 om 09:30 schreef Ada <ada@example.com>:"
  /^Op\b(?=.*\bschreef\b).*:$/i,
  // Swedish, Norwegian, Danish: "Den fre 21 nov. 2026 kl 09:30 skrev Ada <ada@example.com>:"
  /^(?:Den|På)\b(?=.*\bskrev\b).*:$/i,
  // Finnish: "pe 21. marrask. 2026 klo 9.30 Ada (ada@example.com) kirjoitti:"
  /^(?:ma|ti|ke|to|pe|la|su)\b.*\bkirjoitti:$/i,
  // Polish: "pt., 21 lis 2026 o 09:30 Ada <ada@example.com> napisał(a):"
  /^(?=.*\d{4}).*\bnapisał(?:a|\(a\))?:$/i,
  // Czech, Slovak: "pá 21. 11. 2026 v 9:30 odesílatel Ada <ada@example.com> napsal:"
  /^(?=.*\d{4}).*\b(?:napsala?|napísala?):$/i,
  // Russian, Ukrainian: "пт, 21 нояб. 2026 г. в 09:30, Ada <ada@example.com>:"
  /^(?:пн|вт|ср|чт|пт|сб|вс|нд)\P{L}(?=(.*?\d{4}))\1.*<[^<>\s]+@[^<>\s]+>:$/iu,
  /^\d{1,2}(?=.*\d{4}).*(?:пишет|написала?|пише|написав):$/iu,
  // Turkish: "Ada <ada@example.com>, 21 Kas 2026 Cum, 09:30 tarihinde şunu yazdı:"
  /^(?=.*\btarihinde\b).*\byazdı:$/i,
  // Japanese: "2026年11月21日(土) 9:30 Ada <ada@example.com>:"
  /^\d{4}年\d{1,2}月\d{1,2}日.*(?:[:：]|のメール[:：]?)$/,
  // Chinese: "Ada <ada@example.com> 于2026年11月21日周六 09:30写道：", "Ada <ada@example.com> 於 2026年11月21日 寫道："
  /^(?=.*\d{4}年).*(?:写道|寫道)\s?[:：]$/,
  // Korean: "2026년 11월 21일 (토) 오전 9:30, Ada <ada@example.com>님이 작성:"
  /^\d{4}년.*(?:작성|님이 쓴 글)\s?:$/,
];

/** First words of attribution lines, to find the first line of a wrapped attribution line. */
const INTRODUCTION_START =
  /^(?:On|Am|Le|El|Em|A|Il|Op|Den|På|ma|ti|ke|to|pe|la|su)\b|\d{4}|^(?:пн|вт|ср|чт|пт|сб|вс|нд)\P{L}/iu;

/** Separator lines above a quoted message. Outlook and other clients write them in the user's language. */
const SEPARATORS =
  /^(?:[-_]{2,}\s*(?:Original Message|Original Appointment|Forwarded message|Reply message|Ursprüngliche Nachricht|Originalnachricht|Weitergeleitete Nachricht|Message d'origine|Message original|Message transféré|Mensaje original|Mensaje reenviado|Mensagem original|Mensagem encaminhada|Messaggio originale|Messaggio inoltrato|Oorspronkelijk bericht|Doorgestuurd bericht|Ursprungligt meddelande|Ursprungligt mejl|Opprinnelig melding|Oprindelig meddelelse|Alkuperäinen viesti|Oryginalna wiadomość|Wiadomość oryginalna|Původní zpráva|Исходное сообщение|Пересылаемое сообщение|Orijinal İleti|元のメッセージ|原始邮件|原始郵件|원본 메시지)\s*[-_]{2,}|_{20,})$/i;

/** Header names above a quoted message in Outlook: From, Sent, To, Cc, Subject and Date, by language. */
const QUOTED_HEADER =
  /^\*?(?:From|Sent|To|Cc|Subject|Date|Von|Gesendet|An|Betreff|Datum|De|Envoyé|À|Objet|Date|Enviado(?: el)?|Para|Asunto|Fecha|Enviada em|Assunto|Data|Da|Inviato|A|Oggetto|Van|Verzonden|Aan|Onderwerp|Från|Skickat|Till|Ämne|Fra|Sendt|Til|Emne|Lähettäjä|Lähetetty|Vastaanottaja|Aihe|Od|Wysłano|Do|Temat|Odesláno|Komu|Předmět|От|Отправлено|Кому|Тема|Kimden|Gönderildi|Kime|Konu|差出人|送信日時|宛先|件名|发件人|发送时间|收件人|主题|寄件者|收件者|主旨|보낸 사람|보낸 날짜|받는 사람|제목)\*?\s?[:：]\*?\s/i;

/** Lines that phones add at the end of a message, such as "Sent from my iPhone". */
const PHONE =
  /^(?:Sent from my |Sent from (?:Outlook|Yahoo|Mail|Proton)|Get Outlook for |Von meinem .* gesendet|Gesendet (?:von|mit) |Envoyé (?:de|depuis) |Enviado desde |Enviado do |Inviato da|Verstuurd vanaf |Verzonden (?:vanaf|met) |Skickat från |Sendt fra |Wysłane z |Отправлено (?:с|из) |iPhoneから送信|发自我的|從我的 .*傳送|나의 iPhone에서 보냄)/i;

/**
 * Splits a message into the reply and the signature, and omits quoted messages, in linear time. Finds `>` quotes,
 * attribution lines in several languages, separators, and headers as Outlook writes them. Keeps text between quotes.
 */
export function replyParts(text: string): ReplyParts {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const own = withoutQuotes(lines.slice(0, quotedTailAt(lines)));
  const { from, text: signatureFrom } = signatureOf(own);
  const signature = own.slice(signatureFrom).join('\n').trim();
  return { reply: own.slice(0, from).join('\n').trim(), signature: signature === '' ? null : signature };
}

/**
 * Returns the line index at which a quoted message without `>` marks starts. Such a quote extends to the end of the
 * text.
 */
function quotedTailAt(lines: readonly string[]): number {
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!.trim();
    if (line === '') continue;
    if (SEPARATORS.test(line) && (!/^_+$/.test(line) || hasQuotedHeaders(lines, at + 1))) return at;
    if (QUOTED_HEADER.test(line) && hasQuotedHeaders(lines, at)) return at;
    const length = introductionAt(lines, at);
    if (length > 0 && !isFollowedByQuote(lines, at + length)) return at;
  }
  return lines.length;
}

function hasQuotedHeaders(lines: readonly string[], from: number): boolean {
  let headers = 0;
  for (const line of lines.slice(from, from + 8)) {
    if (QUOTED_HEADER.test(line.trim())) headers += 1;
    else if (line.trim() === '' && headers > 0) break;
  }
  return headers >= HEADER_LINES_MIN;
}

/** Returns the number of lines of the wrapped attribution line that starts at `at`, or 0 if none starts there. */
function introductionAt(lines: readonly string[], at: number): number {
  if (!INTRODUCTION_START.test(lines[at]!.trim())) return 0;
  let joined = '';
  for (let count = 1; count <= INTRODUCTION_LINES_MAX; count += 1) {
    const line = lines[at + count - 1]?.trim() ?? '';
    if (line === '' || line.startsWith('>')) return 0;
    joined += joined === '' ? line : ` ${line}`;
    if (joined.length > INTRODUCTION_CHARACTERS_MAX) return 0;
    if (/[:：]$/.test(line) && INTRODUCTIONS.some((pattern) => pattern.test(joined))) return count;
  }
  return 0;
}

function isFollowedByQuote(lines: readonly string[], from: number): boolean {
  const next = lines.slice(from, from + 3).find((line) => line.trim() !== '');
  return next?.startsWith('>') ?? false;
}

/** Returns the lines without those that start with `>`, and without the attribution lines directly above them. */
function withoutQuotes(lines: readonly string[]): string[] {
  const own: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at]!.startsWith('>')) continue;
    const length = introductionAt(lines, at);
    if (length > 0 && isFollowedByQuote(lines, at + length)) at += length - 1;
    else own.push(lines[at]!);
  }
  return own;
}

/**
 * Returns the line indexes at which the signature starts: `from` with its separator, `text` without it. Both are the
 * number of lines if there is no signature. A separator is `-- ` (RFC 3676, section 4.3), with or without the space, or
 * a line that phones add.
 */
function signatureOf(lines: readonly string[]): { from: number; text: number } {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  for (let at = last; at >= 0 && at > last - SIGNATURE_LINES_MAX; at -= 1) {
    const line = lines[at]!;
    if (/^--\s?$/.test(line)) return { from: at, text: at + 1 };
    if (PHONE.test(line.trim())) return { from: at, text: at };
  }
  return { from: lines.length, text: lines.length };
}
