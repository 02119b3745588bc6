import { plainHtmlOf, withoutUrls } from './preview-html';

describe('plainHtmlOf', () => {
  it.each([
    ['<p>Hi</p>', '<p>Hi</p>', []],
    ['<style type="text/css">p { color: red }</style><p>', '<p>', ['p { color: red }']],
    ['<p style="color: red">style="x"</p>', '<p data-posthorn-style="color: red">style="x"</p>', []],
    ['<img src=x onerror=alert(1) alt="a > b">', '<img src=x alt="a > b">', []],
    [`<a onclick='x("y")' href="#">`, '<a href="#">', []],
    ['<td background="http://a/b" width=1>', '<td width=1>', []],
  ])('%j', (source, html, sheets) => {
    expect(plainHtmlOf(source)).toEqual({ html, sheets });
  });
});

it.each([
  ['color: red', 'color: red'],
  ['background: url(https://a.example/b.png) red', 'background: none red'],
  ['@import url(x.css); p {}', ' p {}'],
  ['background: url("data:image/png;base64,AA")', 'background: url("data:image/png;base64,AA")'],
])('withoutUrls(%j)', (css, plain) => {
  expect(withoutUrls(css)).toBe(plain);
});
