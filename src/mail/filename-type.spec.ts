import { extensionOfType, typeOfFilename } from './filename-type.js';

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

describe('extensionOfType', () => {
  it.each([
    ['application/pdf', 'pdf'],
    ['Image/JPEG; name=a', 'jpeg'],
    ['image/png', 'png'],
    ['image/svg+xml', 'svg'],
    ['text/plain; charset=utf-8', 'txt'],
    ['text/calendar', 'ics'],
    ['text/html', 'html'],
    ['message/rfc822', 'eml'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
    ['application/octet-stream', null],
    ['text/x-own', null],
    ['application/x-own', null],
    ['', null],
  ])('%s: %s', (type, extension) => {
    expect(extensionOfType(type)).toBe(extension);
  });
});
