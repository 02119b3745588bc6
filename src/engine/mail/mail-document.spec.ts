import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { mailDocument } from './mail-document.js';

const PNG = { contentId: 'logo@shop', type: 'image/png', content: Buffer.from('png') };
const DRAWN = `data:image/png;base64,${Buffer.from('png').toString('base64')}`;

describe('mailDocument', () => {
  it.each([
    ['<img src="cid:logo@shop">', `<img src="${DRAWN}">`],
    ["<IMG SRC='CID:logo%40shop'>", `<IMG SRC='${DRAWN}'>`],
    ['<img src=cid:logo@shop>', `<img src=${DRAWN}>`],
    ['<td style="background:url(cid:logo@shop)">', `<td style="background:url(${DRAWN})">`],
    ['<img src="cid:other">', '<img src="cid:other">'],
    ['say cid:logo@shop', 'say cid:logo@shop'],
  ])('%s: embeds its own images', (html, shown) => {
    expect(mailDocument(html, [PNG]).startsWith(shown)).toBe(true);
  });

  it.each(['image/svg+xml', 'text/html', 'application/octet-stream', 'image/png;x'])(
    'a file of type %s is never embedded',
    (type) => {
      expect(mailDocument('<img src="cid:logo@shop">', [{ ...PNG, type }])).not.toContain('data:');
    },
  );

  it('a million spaces after a link attribute are read in linear time', async () => {
    const html = `<a href=${' '.repeat(1_000_000)}>x</a>`;

    expect(await growthOf(html, (part) => mailDocument(part, []))).toBeLessThan(LINEAR);
  });

  it('referencing images repeatedly does not exceed the size limit', () => {
    const content = Buffer.alloc(1024 * 1024);

    expect(
      mailDocument('<img src="cid:a">'.repeat(50_000), [{ contentId: 'a', type: 'image/gif', content }]).length,
    ).toBeLessThan(20 * 1024 * 1024);
  });

  it.each([
    '<link rel=preconnect href=https://tracker.example>',
    '<LINK\nrel="dns-prefetch" href="//tracker.example">',
    '<meta http-equiv=refresh content="0;url=https://tracker.example">',
    '<base href="https://tracker.example/">',
    '<noscript><link/rel=preconnect href=https://tracker.example></noscript>',
    '<l<linkink rel=preconnect>',
    '<!-- --!><meta/http-equiv=refresh>',
    '<iframe srcdoc="&lt;link rel=preconnect&gt;"></iframe>',
    '<frameset><frame src=x></frameset>',
  ])('%s: removes elements whose requests no policy can block', (html) => {
    expect(mailDocument(html, [])).not.toMatch(/<(?:link|meta|base|iframe|frame|frameset)[\s/>]/i);
  });

  it.each([
    ['<a href="https://x.example">x</a>', '<a data-href="https://x.example">x</a>'],
    ['<a class="b"HREF=javascript:alert(1)>x</a>', '<a class="b"data-href=javascript:alert(1)>x</a>'],
    ['<a/href=//x.example>', '<a/data-href=//x.example>'],
    ['<area shape=rect href=x>', '<area shape=rect data-href=x>'],
    ['<a href="#top">', '<a href="#top">'],
    ['<abbr href=x>', '<abbr href=x>'],
  ])('%s: removes link targets outside of the message', (html, shown) => {
    expect(mailDocument(html, []).startsWith(shown)).toBe(true);
  });

  it.each(['<a ', '<a<', '"   ', '<link', '="cid:', '<a href', '=cid:x '])(
    'processes a megabyte of %j quickly',
    (part) => {
      const html = part.repeat(1_000_000 / part.length);

      expect(mailDocument(html, [PNG]).length).toBeGreaterThanOrEqual(html.length);
    },
    5_000,
  );
});
