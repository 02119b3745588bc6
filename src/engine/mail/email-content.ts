/** Markup that shows nothing: white space, a comment or a document type. */
const NOT_SHOWN = /\s+|<!--[^]*?-->|<!doctype[^>]*>/iy;

/**
 * Returns whether an email's HTML or text contains anything. React Email renders an empty component as HTML that has
 * only a document type and comments.
 */
export function hasContent({ html, text }: { html: string | null; text: string | null }): boolean {
  return (text !== null && text.trim() !== '') || (html !== null && !isBlank(html));
}

function isBlank(html: string): boolean {
  let end = 0;
  NOT_SHOWN.lastIndex = 0;
  while (NOT_SHOWN.test(html)) end = NOT_SHOWN.lastIndex;
  return end === html.length;
}
