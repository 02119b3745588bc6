import { hasContent } from './email-content.js';

describe('hasContent', () => {
  it.each<[string | null, string | null]>([
    [null, null],
    ['', null],
    [null, ' \r\n\t\u00a0'],
    ['  ', ''],
    ['<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"><!--$--><!--/$-->\n', null],
  ])('html %j and text %j contain nothing', (html, text) => {
    expect(hasContent({ html, text })).toBe(false);
  });

  it.each<[string | null, string | null]>([
    [null, 'a'],
    ['', ' a '],
    ['a', ''],
    ['<!doctype html><img src="https://example.com/a.png">', null],
    [null, '<!-- a -->'],
    ['<!--', null],
  ])('html %j and text %j contain something', (html, text) => {
    expect(hasContent({ html, text })).toBe(true);
  });
});
