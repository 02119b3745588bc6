import { joinFlowedLines } from '#engine/mail/flowed-text.js';
import { CONVERTED_CHARACTERS_MAX, htmlToText, textToHtml } from '#engine/mail/html-text.js';
import { type Branch, isUnnamedText, type Leaf, type Part } from './mime-parts.js';
import { decodePart } from './text-decoding.js';

/** Text and HTML of a message. */
export interface MessageBody {
  text: string | null;
  html: string | null;
  /** True if the text is, or contains, the converted text of an HTML part. */
  isTextFromHtml: boolean;
  isGuessed: boolean;
  /** True if some HTML was not converted to text, because it is too large or too deeply nested. */
  isCut: boolean;
}

/**
 * Returns whether a part is displayed as text instead of listed as a file. Such a part has a text type and no name, and
 * is not declared as a file. In a multipart/related, only the first part is text, and the other parts are files that it
 * refers to.
 */
export function isBodyPart(leaf: Leaf, parent: Branch | null): boolean {
  return isUnnamedText(leaf) && (parent?.type !== 'multipart/related' || parent.parts[0] === leaf);
}

/**
 * Returns the text and the HTML of a message. Selects their parts by the rules of RFC 8621 (JMAP, section 4.1.4).
 * `charset` applies to parts that declare none. The text contains the converted HTML only if `derivesText` is true.
 */
export function bodyOf(root: Part, charset: string | null, derivesText: boolean): MessageBody {
  const { text, html } = listsOf(root);
  const reader = new BodyReader(charset);
  const shownHtml = htmlIn(html, reader);
  const hasHtml = shownHtml !== null;
  // Some clients send an empty text part next to the HTML.
  const isBlank = hasHtml && !text.some((leaf) => isHtml(leaf) || reader.content(leaf).trim() !== '');
  const selected = isBlank ? html.filter(isHtml) : text;
  const shown = derivesText ? selected : selected.filter((leaf) => !isHtml(leaf));
  return {
    text:
      shown.length === 0
        ? null
        : joined(
            shown.map((leaf) => reader.asText(leaf)),
            '\n',
          ),
    html: shownHtml,
    isTextFromHtml: shown.some(isHtml),
    isGuessed: reader.isGuessed,
    isCut: reader.isCut,
  };
}

/** Returns only the HTML of a message, without converting it to text. Null if it has none. */
export function htmlOf(root: Part, charset: string | null): string | null {
  return htmlIn(listsOf(root).html, new BodyReader(charset));
}

const isHtml = ({ type }: Leaf): boolean => type === 'text/html';

function listsOf(root: Part): { text: Leaf[]; html: Leaf[] } {
  const lists: BodyLists = { text: [], html: [] };
  select(root, null, false, lists);
  return { text: lists.text ?? [], html: lists.html ?? [] };
}

/** Joins the parts into one HTML text. Null if no part is HTML with content. */
function htmlIn(leaves: readonly Leaf[], reader: BodyReader): string | null {
  if (!leaves.some((leaf) => isHtml(leaf) && reader.content(leaf).trim() !== '')) return null;
  return joined(
    leaves.map((leaf) => reader.asHtml(leaf)),
    '<br/>\n',
  );
}

/** Decodes each part once, and limits how much HTML of a message is converted to text. */
class BodyReader {
  isGuessed = false;
  isCut = false;
  private readonly contents = new Map<Leaf, string>();
  private convertedLeft = CONVERTED_CHARACTERS_MAX;

  constructor(private readonly charset: string | null) {}

  content(leaf: Leaf): string {
    const known = this.contents.get(leaf);
    if (known !== undefined) return known;
    const bytes = leaf.content ?? Buffer.alloc(0);
    const { text: decoded, isGuessed } = decodePart(bytes, leaf.charset, isHtml(leaf), this.charset);
    const text = decoded.replaceAll('\r\n', '\n');
    const content = leaf.isFlowed ? joinFlowedLines(text, leaf.deletesSpace) : text;
    this.isGuessed ||= isGuessed;
    this.contents.set(leaf, content);
    return content;
  }

  asText(leaf: Leaf): string {
    if (!isHtml(leaf)) return this.content(leaf);
    const whole = this.content(leaf);
    const html = whole.slice(0, this.convertedLeft);
    this.isCut ||= html.length < whole.length;
    this.convertedLeft -= html.length;
    const text = htmlToText(html);
    this.isCut ||= text === null;
    return text ?? '';
  }

  asHtml(leaf: Leaf): string {
    const content = this.content(leaf);
    return isHtml(leaf) || content === '' ? content : textToHtml(content);
  }
}

/**
 * Parts that form the text and the HTML of a message. A list that is null gets no further parts. Inside a
 * multipart/alternative, a plain-text part is not added to the HTML, and an HTML part is not added to the text.
 */
interface BodyLists {
  text: Leaf[] | null;
  html: Leaf[] | null;
}

function select(part: Part, parent: Branch | null, isInAlternative: boolean, lists: BodyLists): void {
  if (part.kind === 'branch') return selectAmong(part, isInAlternative, lists);
  if (!isBodyPart(part, parent)) return;
  const isHtml = part.type === 'text/html';
  if (parent?.type === 'multipart/alternative') return void lists[isHtml ? 'html' : 'text']?.push(part);
  if (isInAlternative) lists[isHtml ? 'text' : 'html'] = null;
  lists.text?.push(part);
  lists.html?.push(part);
}

function selectAmong(branch: Branch, isInAlternative: boolean, lists: BodyLists): void {
  const isAlternative = branch.type === 'multipart/alternative';
  const before = { text: lists.text?.length ?? 0, html: lists.html?.length ?? 0 };
  // `select` may set a list to null, which ends it for this branch. The copy keeps the list open for the parts that
  // follow the branch.
  const inside = { ...lists };
  for (const part of branch.parts) select(part, branch, isInAlternative || isAlternative, inside);
  if (!isAlternative || lists.text === null || lists.html === null) return;
  // If the alternatives contain only text or only HTML, adds their parts to both lists.
  const isTextFound = lists.text.length > before.text;
  const isHtmlFound = lists.html.length > before.html;
  if (isHtmlFound && !isTextFound) lists.text.push(...lists.html.slice(before.html));
  if (isTextFound && !isHtmlFound) lists.html.push(...lists.text.slice(before.text));
}

const joined = (contents: readonly string[], separator: string): string =>
  contents.filter((content) => content !== '').join(separator);
