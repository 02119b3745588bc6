import { Buffer } from 'node:buffer';

/** A file of a message that its HTML may reference by `cid:` (RFC 2392). */
export interface InlineFile {
  /** Content-ID without angle brackets. */
  contentId: string;
  type: string;
  content: Uint8Array;
}

/**
 * Content security policy of a displayed message: a sandboxed document without scripts, forms or external resources.
 */
export const MAIL_DOCUMENT_POLICY =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/** Image types without active content. Excludes SVG. */
const DRAWN = /^image\/(?:png|jpe?g|gif|webp|bmp|avif)$/i;
/** Maximum total size of embedded images, in characters, because the document is held in memory. */
const IMAGES_CHARACTERS_MAX = 16 * 1024 * 1024;
/** Pattern of a `cid:` reference after a quote, a bracket or an equals sign. Elsewhere, `cid:` may be ordinary text. */
const CID = /(["'(=]\s*)cid:([^"'\s<>()]{1,998})/gi;
const LEADS = /(["'\s/])href(\s*=)(?!\s*(?:["']\s*)?#)/gi;

/**
 * Returns the HTML of a message as a document for display under `MAIL_DOCUMENT_POLICY`, with its own images embedded.
 * The policy blocks all resources, but not preconnects and DNS prefetches. The elements that cause them are therefore
 * renamed:
 *
 * - `link`, `meta` and `base` become `basefont`, which has no effect and is also allowed in a head.
 * - Frames become unknown elements, because their `srcdoc` may contain `link` or `meta` in an escaped spelling.
 *
 * Links lose their target, because a click would otherwise load another page into the frame that shows the message.
 */
export function mailDocument(html: string, files: readonly InlineFile[]): string {
  const inert = html
    .replace(/<(?:link|meta|base)(?=[\s/>])/gi, '<basefont')
    .replace(/<(\/?)(i?frame|frameset|portal|fencedframe)(?=[\s/>])/gi, '<$1x-$2')
    .replace(/<(?:a|area)(?=[\s/])[^<>]*>/gi, (tag) => tag.replace(LEADS, '$1data-href$2'));
  return `${withImages(inert, files)}<style>:where(a[data-href]){text-decoration:underline;color:#0a58b5}</style>`;
}

function withImages(html: string, files: readonly InlineFile[]): string {
  const images = new Map(
    files.filter(({ contentId, type }) => contentId !== '' && DRAWN.test(type)).map((file) => [file.contentId, file]),
  );
  if (images.size === 0) return html;
  const drawn = new Map<string, string>();
  let left = IMAGES_CHARACTERS_MAX;
  return html.replace(CID, (whole, before: string, name: string) => {
    const image = images.get(plain(name));
    if (image === undefined || image.content.byteLength * 1.4 > left) return whole;
    const address =
      drawn.get(image.contentId) ??
      `data:${image.type.toLowerCase()};base64,${Buffer.from(image.content).toString('base64')}`;
    drawn.set(image.contentId, address);
    left -= address.length;
    return before + address;
  });
}

/** Decodes the escapes of HTML attributes and of URLs in a name. */
function plain(name: string): string {
  const unescaped = name.replaceAll('&amp;', '&');
  try {
    return decodeURIComponent(unescaped);
  } catch {
    return unescaped;
  }
}
