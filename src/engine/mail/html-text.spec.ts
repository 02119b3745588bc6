import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { CONVERTED_CHARACTERS_MAX, htmlToText, textToHtml } from './html-text.js';

describe('HTML as text', () => {
  it.each<[string, string, string]>([
    ['tags, styles, scripts and comments are left out', '<style>p{}</style><script>x</script><!-- c --><p>a</p>', 'a'],
    ['entities are decoded', '&lt;a&gt; &amp; &uuml;&#8364;&nbsp;x', '<a> & ü€\u00a0x'],
    ['paragraphs and line breaks are kept', '<p>a<br>b</p><p>c</p>', 'a\nb\n\nc'],
    ['headings are not in capitals', '<h1>Hello</h1>', 'Hello'],
    ['a list has one line for each item', '<ul><li>a</li><li>b</li></ul>', ' * a\n * b'],
    ['a link shows its address', '<a href="https://x.example/a">here</a>', 'here [https://x.example/a]'],
    [
      'a link whose text is its address shows it once',
      '<a href="https://x.example">https://x.example</a>',
      'https://x.example',
    ],
    [
      'a table has one line for each row',
      '<table><thead><tr><th>Item</th><th>Price</th></tr></thead><tr><td>Book</td><td>5 €</td></tr><tr><td>Pen<td>6 €</table>',
      'Item Price\nBook 5 €\nPen 6 €',
    ],
    [
      'nested tables are separated',
      '<table><tr><td><table><tr><td>a</td></tr></table></td><td><p>b</p></td></tr></table>c',
      'a\n\nb\n\nc',
    ],
    ['blocks are separated', '<dl><dt>a</dt><dd>b</dd></dl><address>c</address><center>d</center>e', 'a\nb\nc\nd\ne'],
    [
      'elements that are not displayed are left out',
      '<head><title>t</title></head><div style="max-height:0;display: none">b</div><p HIDDEN>c</p><p style="DISPLAY:NONE">d</p><div data-skip-in-text="true">e&zwnj;&nbsp;</div>f',
      'f',
    ],
    ['images are left out', '<img src="https://x.example/pixel.gif" alt="">a', 'a'],
    ['quotes are marked', '<blockquote>a<br>b</blockquote>', '> a\n> b'],
    ['HTML that is not well-formed is converted', '<div><b>a</i></b>b', 'ab'],
    ['text without tags stays', 'a < b', 'a < b'],
  ])('%s', (_what, html, text) => {
    expect(htmlToText(html)).toBe(text);
  });

  it('an element named like a property of objects returns null, because html-to-text rejects it', () => {
    expect(htmlToText('<constructor>a</constructor>')).toBeNull();
  });

  it('reads at most the first 256 KB', () => {
    expect(htmlToText('x'.repeat(CONVERTED_CHARACTERS_MAX + 10))).toHaveLength(CONVERTED_CHARACTERS_MAX);
  });

  it('1,000 unclosed cells, items and paragraphs do not nest', () => {
    expect(htmlToText(`<table>${'<tr><td>x'.repeat(1_000)}</table>${'<p>x'.repeat(1_000)}`)).not.toBeNull();
    expect(htmlToText(`<ul>${'<li>x'.repeat(20_000)}</ul>`)).not.toBeNull();
    expect(
      htmlToText(`<table>${'<tr><td>x'.repeat(10_000)}</table><dl>${'<dt>x<dd>y'.repeat(5_000)}</dl>`),
    ).not.toBeNull();
    expect(htmlToText(`<div>${'<p>x<div>y</div>'.repeat(6_000)}`)).not.toBeNull();
  });

  it.each<[string, string]>([
    ['open tags', '<div>'.repeat(60_000)],
    ['open tags between end tags of nothing', '<div></b>'.repeat(20_000)],
    ['items and paragraphs that do not end each other', '<li><p>'.repeat(36_000)],
    ['rows and heads that do not end each other', '<tr><thead>'.repeat(20_000)],
  ])('too many levels of %s return null', (_what, html) => {
    expect(htmlToText(html)).toBeNull();
  });

  it.each<[string, string]>([
    ['unclosed comments', '<!--'.repeat(70_000)],
    ['unclosed tags', '<a '.repeat(80_000)],
    ['brackets', '<'.repeat(260_000)],
    ['attributes', `<a ${'b="c" '.repeat(40_000)}>x`],
    ['end tags', '</div>'.repeat(40_000)],
    ['items and paragraphs', '<li><p>'.repeat(36_000)],
    ['brackets before a bracket', `${'<'.repeat(260_000)}>`],
  ])('256 KB of %s are converted in linear time', async (_what, html) => {
    expect(await growthOf(html, (part) => htmlToText(part))).toBeLessThan(LINEAR);
  });
});

describe('text as HTML', () => {
  it('shows the same characters and lines', () => {
    expect(textToHtml('a <b> & c\n d')).toBe('<div style="white-space:pre-wrap">a &lt;b&gt; &amp; c\n d</div>');
  });
});
