import { compile } from 'html-to-text';

/** Maximum size of HTML that is converted, in characters. Converting one MB of nested tables takes over a second. */
export const CONVERTED_CHARACTERS_MAX = 256 * 1024;
/**
 * Maximum nesting of elements with a required end tag. The HTML parser takes time quadratic in the nesting, and the
 * converter is recursive.
 */
const LEVELS_MAX = 500;
/**
 * Maximum nesting of all elements. Also counts elements with an optional end tag, which nest only if different kinds
 * alternate.
 */
const OPEN_ELEMENTS_MAX = 5_000;

/** Elements without content (HTML Living Standard, "void elements"). */
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/;
/**
 * Elements with an optional end tag. Such elements rarely nest, because the next list item or table cell ends the
 * previous one.
 */
const ENDS_BY_ITSELF = /^(?:p|li|dt|dd|option|optgroup|tr|td|th|thead|tbody|tfoot|rt|rp)$/;
/** For each element, the open elements that its start tag ends, as in the HTML parser. */
const ENDED_BY_START: ReadonlyMap<string, RegExp> = new Map([
  ['p', /^p$/],
  ['li', /^li$/],
  ['dt', /^d[dt]$/],
  ['dd', /^d[dt]$/],
  ['option', /^option$/],
  ['optgroup', /^opt(?:ion|group)$/],
  ['tr', /^t[rhd]$/],
  ['td', /^t(?:d|h|head)$/],
  ['th', /^th$/],
  ['tbody', /^t(?:head|body)$/],
  ['tfoot', /^t(?:head|body)$/],
  ['rt', /^r[tp]$/],
  ['rp', /^r[tp]$/],
]);
const TAG_START = /^<(\/?)([a-z][^\s/>]*)/;

/** Elements that browsers display as blocks, and that html-to-text does not know. Their text would be run together. */
const BLOCKS =
  'address caption center dd details dialog dl dt fieldset figcaption figure hgroup legend menu optgroup option summary tr';
/** Elements that are not displayed. Preview texts are hidden, and are filled up with invisible characters. */
const HIDDEN = [
  'head',
  'title',
  '[hidden]',
  '[style*="display:none" i]',
  '[style*="display: none" i]',
  // Preview texts of React Email.
  '[data-skip-in-text="true"]',
];

const convert = compile({
  wordwrap: false,
  limits: { maxInputLength: CONVERTED_CHARACTERS_MAX, maxDepth: LEVELS_MAX + 10 },
  formatters: {
    /** Separates the cells of a row by a space. */
    cell: (element, walk, builder) => {
      builder.addInline(' ');
      walk(element.children, builder);
      builder.addInline(' ');
    },
  },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
    { selector: 'img', format: 'skip' },
    ...HIDDEN.map((selector) => ({ selector, format: 'skip' })),
    ...BLOCKS.split(' ').map((selector) => ({
      selector,
      format: 'block',
      options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
    })),
    ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
});

/**
 * Returns the text of an HTML document, with the addresses of links and without tags, styles and images. Reads at most
 * the first 256 KB. Returns null for HTML that html-to-text rejects, or that nests too deeply for bounded time.
 */
export function htmlToText(html: string): string | null {
  const cut = html.slice(0, CONVERTED_CHARACTERS_MAX);
  if (isTooDeep(cut)) return null;
  try {
    return convert(cut);
  } catch {
    // html-to-text throws a TypeError for elements named like an object's property, such as `<constructor>`.
    return null;
  }
}

/** Converts a text to HTML that a browser displays with the line breaks of the text. */
export function textToHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<div style="white-space:pre-wrap">${escaped}</div>`;
}

/** Returns whether the HTML parser would nest elements deeper than the maximum. Takes linear time. */
function isTooDeep(html: string): boolean {
  const open: string[] = [];
  const counts = new Map<string, number>();
  let levels = 0;
  const pop = (): string => {
    const name = open.pop()!;
    counts.set(name, counts.get(name)! - 1);
    if (!ENDS_BY_ITSELF.test(name)) levels -= 1;
    return name;
  };
  for (const { name, isEnd } of tagsOf(html)) {
    if (!isEnd) {
      while (ENDED_BY_START.get(name)?.test(open.at(-1) ?? '')) pop();
      open.push(name);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (!ENDS_BY_ITSELF.test(name)) levels += 1;
      if (levels > LEVELS_MAX || open.length > OPEN_ELEMENTS_MAX) return true;
    } else if ((counts.get(name) ?? 0) > 0) while (pop() !== name);
  }
  return false;
}

/** Yields the tags outside comments, except the tags of void elements. */
function* tagsOf(html: string): Generator<{ name: string; isEnd: boolean }> {
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) {
    const isComment = html.startsWith('<!--', at);
    const [, slash, name] = TAG_START.exec(html.slice(at, at + 50).toLowerCase()) ?? [];
    if (!isComment && name === undefined) continue;
    at = html.indexOf(isComment ? '-->' : '>', at);
    if (at < 0) return;
    if (name !== undefined && !VOID.test(name)) yield { name, isEnd: slash !== '' };
  }
}
