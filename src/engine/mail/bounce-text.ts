import { refusesAddress, type ReportedRecipient } from './delivery-status.js';
import { cleanReply } from './smtp-reply.js';
import { statusIn } from './status-codes.js';

export interface BounceText {
  outcome: 'failed' | 'delayed' | null;
  /** Recipients in the bounce. Empty if the bounce contains no recipient in a known format. */
  recipients: ReportedRecipient[];
  /** Whether the recipients are at the usual position in a bounce, not elsewhere in the text. */
  isListed: boolean;
}

const CHARS_MAX = 65_536;
const LINE_CHARS_MAX = 1_000;
const LINES_MAX = 400;
const RECIPIENTS_MAX = 100;
const DETAIL_LINES = 12;

/** Patterns for the start of the returned message: its first header, or a line that announces the message. */
const RETURNED = [
  /^[\s>|*=_~-]*(?:below th(?:is|e next) line|original (?:message|mail|header)|old message|this is a copy|here is (?:a|the) copy|(?:included|attached) is a copy|a copy of|the (?:header|first \d{1,5} lines)|returned (?:mail|message)|(?:start|begin) of (?:returned|original)|message (?:headers?|text|contents?) ?(?:follows?)?|headers? of the|unsent message|your message reads|forwarded message|a summary of the undelivered|mensaje original|message (?:original|d'origine)|messaggio originale|urspr(?:ü|ue)ngliche nachricht|mensagem original|oorspronkelijk bericht|originalnachricht|исходное сообщение)/i,
  /^[\s>|*=_~-]*(?:原(?:邮件|郵件|信)|以下(?:是|為)|元のメッセージ|オリジナル(?:メッセージ|メール))/,
  /^>?(?:Received|Return-Path|DKIM-Signature|X-Received): /i,
];

const DELAYED = [
  /\bdelayed\b|\bdelay(?:ed)? (?:notif|warning)|\((?:delay|still)|\bnot yet been (?:delivered|sent)|\bnot been delivered yet|\bstill being (?:retried|attempted)|\bhas been postponed/i,
  /\b(?:will|to) (?:be retried|continue (?:to try|trying)|keep trying|continue to be made)|\battempts? will continue|\bwarning message only|\bno need to re-?send/i,
  /\bverz(?:ö|oe)ger|\bretard(?:é|ée|ada|ado)\b|\bin ritardo\b|\bvertraagd\b|задержано|отложен|遅延|延迟|延遲/i,
];

const FAILED = [
  /\bundeliver|\bnon[- ]?deliver|\bnot (?:be |been )?(?:successfully )?(?:deliver|sent|collected)|\bcould(?: not|n['’]t) (?:be )?(?:deliver|reach|send|find)|\bcan(?:not|['’]t)(?: be)? deliver|\b(?:unable|n['’]t able|not able|impossible) to deliver/i,
  /\bdeliver(?:y|ing)\b[^.\n]{0,60}\b(?:fail|error|problem|rejected|subsystem)|\bfail(?:ed|ure)\b[^.\n]{0,40}\b(?:deliver|notice|mail|address|recipient|attempt)|\b(?:mail|message|processing|returned|delivery)\b[^.\n]{0,30}\b(?:error|failed|failure|rejected)\b/i,
  /\breturned (?:mail|to sender|unopened|because)|\breturning (?:message|to)|\bdid(?: not|n['’]t) reach|\bnot reach|\bautomatically rejected\b|\bpermanent (?:fatal )?(?:delivery )?error|\b(?:address|recipient|mailbox|user)\b[^.\n]{0,40}\b(?:unknown|not (?:found|exist|known|valid)|no longer|disabled|full|exceed|reject|invalid)|\bno such (?:user|address|mailbox)/i,
  /\bnicht (?:zugestellt|zustell|übermittelt|erreich)|\bunzustellbar|\bnon (?:remis|delivr|distribu|recapitat)|\bpas (?:pu )?(?:[eê]tre )?(?:remis|d[eé]livr|distribu|achemin)|\bno (?:se )?(?:ha )?(?:pudo|podido|fue posible|pueden?)? ?(?:ser )?entreg|\bnão (?:foi possível|pôde|pode) (?:ser )?(?:entreg|envi)|\bnao pode ser/i,
  /\bimpossibile (?:recapit|consegn)|\bmancat[oa] (?:recapito|consegna)|\bniet (?:worden )?(?:bezorgd|afgeleverd)|\bonbestelbaar|\bkunde inte (?:levereras|skickas)|\bkunne ikke (?:leveres|sendes)|\bei voitu toimittaa|\bnie (?:została|można) (?:dostarcz|doręcz)|\bnedoručit|\bdoručen[ao]?\b/i,
  /не (?:может быть|удалось|была?|было) (?:доставлен|доставить)|недоставлен|невозможно доставить|配信(?:できません|不能|エラー)|送信できません|届けることができません|お届けできません|宛先(?:不明|が見つかり)|无法(?:投递|发送|被?送达|送达)|退信|無法(?:傳送|遞送|寄送)|投递失败|전송(?:할 수 없|하지 못)|배달되지|teslim edilemedi|iletilemedi/i,
];

const ADDRESS = /([^\s<>()[\]"',;:=|\\*]{1,128}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}[A-Za-z0-9])/;
/** Pattern of a label before a recipient in the middle of a line. */
const LABELLED = new RegExp(
  `(?:recipients?|addresse?e?s?(?:ed)?(?: to)?|error-for|undeliverable(?:\\s+to)?|unknown user|user ?id|attempts|rcpt to|dda|message (?:to|for)|mail (?:to|for)|mailbox(?: is full)?|expanded from|empf(?:ä|ae)nger|destinataires?|destinatari[oa]s?|ontvangers?|宛先|收件人|получател[ьюя]{1,2})\\s{0,10}[:=,]?\\s{0,10}["'<\\[(]{0,3}(?:smtp[:=])?${ADDRESS.source}`,
  'i',
);
/** Pattern of a recipient at the beginning of a line. */
const LISTED = new RegExp(`^[\\s*>•·-]{0,40}["'<\\[(]{0,3}(?:(?:mailto|smtp|rfc822)[:;=])?\\s?${ADDRESS.source}`, 'i');
/**
 * Pattern of lines whose addresses are not the bounced recipients: header fields of the returned message, and contact
 * addresses.
 */
const OTHERS =
  /^[\s*>-]{0,40}(?:to|cc|from|sender|subject|sent|date|message-id|reply-to|an|von|de|para|à)\s{0,5}:|\b(?:contact|assistance|help|support|forward(?:ed)? (?:this|to)|reported to|mail from)\b/i;
const TO = new RegExp(`^[\\s*>-]{0,40}to\\s{0,5}:[^@]{0,80}?${ADDRESS.source}`, 'i');
const DAEMON = /^(?:mailer-?daemon|postmaster|abuse|helpdesk|support)@/i;
const LOCAL = /^\s{1,20}([A-Za-z0-9._+-]{1,64})\s{0,20}$/;

/** Parses a bounce, in bounded time. `fromDomain`: the reporting server's domain, added to addresses without one. */
export function readBounceText(subject: string, text: string, fromDomain: string): BounceText {
  const lines = sectionOf(text);
  const section = lines.join('\n');
  const outcome = DELAYED.some((known) => known.test(subject) || known.test(section))
    ? 'delayed'
    : FAILED.some((known) => known.test(subject) || known.test(section))
      ? 'failed'
      : null;
  if (outcome === null) return { outcome, recipients: [], isListed: false };
  const listed = placesOf(lines, (line) =>
    OTHERS.test(line) ? null : (LABELLED.exec(line)?.[1] ?? LISTED.exec(line)?.[1] ?? null),
  );
  if (listed.length > 0) return { outcome, recipients: recipientsAt(listed, lines, outcome), isListed: true };
  const anywhere = placesOf(lines, (line) => (OTHERS.test(line) ? null : (ADDRESS.exec(line)?.[1] ?? null)));
  const found =
    [anywhere, placesOf(lines, (line) => TO.exec(line)?.[1] ?? null), localsOf(lines, fromDomain)].find(
      ({ length }) => length > 0,
    ) ?? [];
  return { outcome, recipients: recipientsAt(found, lines, outcome), isListed: false };
}

interface Place {
  address: string;
  line: number;
}

function sectionOf(text: string): string[] {
  const lines = text
    .slice(0, CHARS_MAX)
    .split('\n', LINES_MAX)
    .map((line) => line.slice(0, LINE_CHARS_MAX));
  const end = lines.findIndex((line) => RETURNED.some((known) => known.test(line)));
  return end === -1 ? lines : lines.slice(0, end);
}

function placesOf(lines: readonly string[], find: (line: string) => string | null): Place[] {
  const places: Place[] = [];
  for (const [line, text] of lines.entries()) {
    const address = find(text);
    if (address !== null && !DAEMON.test(address) && places.length < RECIPIENTS_MAX) places.push({ address, line });
  }
  return places;
}

function localsOf(lines: readonly string[], fromDomain: string): Place[] {
  if (fromDomain === '') return [];
  return placesOf(lines, (line) => {
    const local = LOCAL.exec(line)?.[1];
    return local === undefined ? null : `${local}@${fromDomain}`;
  });
}

/** Returns each recipient once, with the text up to the next recipient. */
function recipientsAt(
  places: readonly Place[],
  lines: readonly string[],
  outcome: 'failed' | 'delayed',
): ReportedRecipient[] {
  const known = new Map<string, ReportedRecipient>();
  for (const [index, { address, line }] of places.entries()) {
    const key = address.toLowerCase();
    if (known.has(key)) continue;
    const next = places.slice(index + 1).find((place) => place.address.toLowerCase() !== key)?.line ?? lines.length;
    const said = cleanReply(lines.slice(line, Math.min(Math.max(next, line + 1), line + DETAIL_LINES)).join(' '));
    const status = statusIn(said);
    known.set(key, {
      addresses: [address],
      outcome,
      status,
      isPermanent: outcome === 'failed' && refusesAddress(status, said),
      detail: said,
    });
  }
  return [...known.values()];
}
