import { Buffer } from 'node:buffer';

/** A file of a message that its HTML may name by `cid:` (RFC 2392). */
export interface InlineFile {
  /** Without angle brackets. */
  contentId: string;
  type: string;
  content: Uint8Array;
}

/** Where a message is shown: alone, without scripts, forms or anything from anywhere. */
export const MAIL_DOCUMENT_POLICY =
  "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/** What a browser only draws. SVG is drawn as well, and may hold anything. */
const DRAWN = /^image\/(?:png|jpe?g|gif|webp|bmp|avif)$/i;
/** What all images come to as text, at most: the document is whole in memory. */
const IMAGES_CHARACTERS_MAX = 16 * 1024 * 1024;
/** Behind a quote, a bracket or an equals sign: in a text `cid:` is two syllables. */
const CID = /(["'(=]\s*)cid:([^"'\s<>()]{1,998})/gi;
/** Where a link leads, unless that is a place in the message. */
const LEADS = /(["'\s/])href(\s*=)(?!\s*["']?\s*#)/gi;

/**
 * The HTML of a message as a document that is shown under `MAIL_DOCUMENT_POLICY`. Its own images become a part of it. The policy keeps
 * everything out but what no policy speaks of: connections that are only opened (`preconnect`), and names that are only resolved. So
 * what asks for these is gone: `link`, `meta` and `base` become an element that does nothing and, like them, may stand in a head; frames,
 * whose `srcdoc` may hold all of it in another spelling, become elements that nobody knows. A tag begins in no other spelling than this
 * one, wherever it stands. Links lead nowhere: the frame that shows the message must not become another page.
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

/** As it stands in the header of its part: without the escapes of an attribute and of a URL. */
function plain(name: string): string {
  const unescaped = name.replaceAll('&amp;', '&');
  try {
    return decodeURIComponent(unescaped);
  } catch {
    return unescaped;
  }
}
