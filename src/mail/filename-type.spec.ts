import { typeOfFilename } from './filename-type.js';

describe('typeOfFilename', () => {
  it.each([
    ['invoice.pdf', 'application/pdf'],
    ['Photo.JPG', 'image/jpeg'],
    ['a.b.csv', 'text/csv'],
    ['invite.ics', 'text/calendar'],
    ['letter.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['mail.EML', 'message/rfc822'],
    ['page.mht', null],
    ['page.mhtml', null],
    ['archive.gzip', null],
    ['call.ccxml', null],
    ['setup.exe', null],
    ['README', null],
    ['.html', null],
    ['a.', null],
    ['', null],
  ])('%s: %s', (filename, type) => {
    expect(typeOfFilename(filename)).toBe(type);
  });
});
