import { type ReactNode, useEffect, useRef } from 'react';
import { t } from '../kit/messages/t';
import { type FrameWidth, MailFrame } from './MailFrame';
import { plainHtmlOf, STYLE_KEPT, withoutUrls } from './preview-html';

/** The sanitizing parser of browsers (HTML Sanitizer API), which TypeScript does not describe yet. */
type ParseHtml = (html: string, options: { sanitizer: object }) => Document;

const SANITIZER = {
  removeElements: 'link meta base form input button select textarea svg math video audio source picture'.split(' '),
  removeAttributes: ['srcset', 'background', 'ping'],
};

/** Attributes of the body that change how the message looks. */
const BODY_ATTRIBUTES = ['class', 'bgcolor', 'dir', STYLE_KEPT];

/**
 * Preview of HTML that is not sent yet. The browser's sanitizer removes all code. The frame runs no scripts, and inherits
 * the policy of the page, which blocks all requests to other hosts.
 */
export function RenderedHtml({ html, width }: { html: string; width: FrameWidth }): ReactNode {
  const frame = useRef<HTMLIFrameElement>(null);
  const parse = (Document as unknown as { parseHTML?: ParseHtml }).parseHTML;
  const show = (): void => {
    const target = frame.current?.contentDocument;
    if (target !== null && target !== undefined && parse !== undefined) showIn(target, parse, html);
  };
  useEffect(show, [html]);
  if (parse === undefined) return <p className="empty">{t('template.preview-send')}</p>;
  return (
    <MailFrame html={html} width={width}>
      {/* Firefox replaces the empty document of a new frame, and then reports it as loaded. */}
      <iframe ref={frame} sandbox="allow-same-origin" title={t('mail.frame')} onLoad={show} />
    </MailFrame>
  );
}

function showIn(target: Document, parse: ParseHtml, source: string): void {
  const { html, sheets } = plainHtmlOf(source);
  const parsed = parse.call(Document, html, { sanitizer: SANITIZER });
  for (const image of parsed.querySelectorAll('img'))
    if (!/^data:image\//i.test(image.getAttribute('src') ?? '')) image.removeAttribute('src');
  for (const link of parsed.querySelectorAll('a, area')) link.removeAttribute('href');
  target.body.replaceChildren(...parsed.body.childNodes);
  for (const name of BODY_ATTRIBUTES) target.body.setAttribute(name, parsed.body.getAttribute(name) ?? '');
  for (const element of [target.body, ...target.body.querySelectorAll<HTMLElement>(`[${STYLE_KEPT}]`)]) {
    element.style.cssText = withoutUrls(element.getAttribute(STYLE_KEPT) ?? '');
    element.removeAttribute(STYLE_KEPT);
  }
  const Sheet = target.defaultView?.CSSStyleSheet ?? CSSStyleSheet;
  target.adoptedStyleSheets = sheets.map((text) => {
    const sheet = new Sheet();
    sheet.replaceSync(withoutUrls(text));
    return sheet;
  });
}
