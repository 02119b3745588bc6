/** HTML without the attributes that the console's content security policy forbids, and with its styles separate. */
export interface PlainHtml {
  html: string;
  /** Contents of the `style` elements. */
  sheets: string[];
}

const STYLE_ELEMENT = /<style\b[^>]*>([^]*?)<\/style\s*>/gi;
const TAG = /<[a-z](?:[^"'>]|"[^"]*"|'[^']*')*>/gi;
/** Name of the attribute that keeps the text of a `style` attribute. */
export const STYLE_KEPT = 'data-posthorn-style';

/**
 * Separates the styles from the HTML, because the policy of the page blocks styles in parsed HTML but allows a script
 * to set them. Also removes event handlers, so that the browser reports no violations of the policy. The sanitizer, and
 * not this function, makes the HTML safe.
 */
export function plainHtmlOf(source: string): PlainHtml {
  const sheets: string[] = [];
  const html = source
    .replace(STYLE_ELEMENT, (_, text: string) => {
      sheets.push(text);
      return '';
    })
    .replace(TAG, (tag) =>
      tag
        .replace(/\sstyle(?=\s*=)/gi, ` ${STYLE_KEPT}`)
        .replace(/\son\w+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, '')
        .replace(/\s(?:background|srcset)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, ''),
    );
  return { html, sheets };
}

/** Returns CSS without references to other resources, which the policy would block and report. */
export function withoutUrls(css: string): string {
  return css.replace(/@import[^;]*;?/gi, '').replace(/url\(\s*(?!["']?data:)[^)]*\)/gi, 'none');
}
