import { csvLine } from './csv.js';

describe('csvLine', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-2+3', "'-2+3"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['  =1', "'  =1"],
    ['=HYPERLINK("https://evil.example","a")', `"'=HYPERLINK(""https://evil.example"",""a"")"`],
  ])('%j is no formula', (given, written) => {
    expect(csvLine([given])).toBe(`${written}\r\n`);
  });

  it('quotes only cells that need quotes', () => {
    expect(csvLine(['a', 'b,c', 'd"e', 'f\ng', null, 7, '', 'POST /v1/keys'])).toBe(
      'a,"b,c","d""e","f\ng",,7,,POST /v1/keys\r\n',
    );
  });
});
