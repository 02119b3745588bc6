import { fitsLines, fromNoteLines, toNoteLines } from './note-lines';

describe('notes as lines', () => {
  it.each<[string, Record<string, string> | number]>([
    ['', {}],
    ['plan: pro\n\n region:eu ', { plan: 'pro', region: 'eu' }],
    ['url: https://a.example/x', { url: 'https://a.example/x' }],
    ['plan: pro\nregion', 2],
    [': x', 1],
    ['empty:', { empty: '' }],
  ])('%j is %j', (text, expected) => {
    expect(fromNoteLines(text)).toEqual(expected);
  });

  it.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ plan: 'pro', region: 'eu: west' }, true],
    [{ 'a:b': 'c' }, false],
    [{ a: 'two\nlines' }, false],
    [{ a: ' kept ' }, false],
    [JSON.parse('{"__proto__": "x"}') as Record<string, string>, true],
  ])('%j fits lines: %j', (notes, isSo) => {
    expect(fitsLines(notes)).toBe(isSo);
    if (isSo) expect(fromNoteLines(toNoteLines(notes))).toEqual(notes);
  });
});
