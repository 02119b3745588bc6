import { readAttachments } from './attachment-draft.js';

const namesOf = (...given: object[]): unknown[] => {
  const { attachments, faults } = readAttachments(given);
  return faults.length > 0 ? faults.map(({ path }) => path) : attachments.map(({ filename }) => filename);
};

describe('readAttachments', () => {
  it.each<[string, object, string]>([
    ['a URL', { url: 'https://example.com/files/Report%20May.pdf?a=b' }, 'Report May.pdf'],
    ['the path of the package `resend`', { path: 'https://example.com/a.pdf', filename: false }, 'a.pdf'],
    ['a URL without a path', { url: 'https://example.com', content_type: 'text/csv' }, 'attachment.csv'],
    ['a URL whose last segment is a path', { url: 'https://example.com/a%2Fb' }, 'attachment'],
    ['content', { content: 'YQ==' }, 'attachment'],
    ['content of a type', { content: 'YQ==', filename: null, content_type: 'image/JPEG; a=b' }, 'attachment.jpeg'],
    ['content of an unknown type', { content: 'YQ==', content_type: 'application/x-own' }, 'attachment'],
    ['an inline image', { content: 'YQ==', contentId: '<logo>', contentType: 'image/png' }, 'inline.png'],
    ['an inline file', { content: 'YQ==', content_id: 'logo', filename: false }, 'inline'],
  ])('derives the file name of %s', (_, given, name) => {
    expect(namesOf(given)).toEqual([name]);
  });

  it.each(['', true, 7, '.', '..', 'a/b', 'a\\b', 'a\nb', 'a'.repeat(256)])('rejects the file name %j', (filename) => {
    expect(namesOf({ filename, url: 'https://example.com/a.pdf' })).toEqual(['attachments.0.filename']);
  });

  it.each(['logo', 'logo@example.com', '<logo@example.com>'])('accepts the content_id %s', (contentId) => {
    expect(readAttachments([{ content: 'YQ==', filename: 'a', contentId }]).faults).toEqual([]);
  });

  it.each(['a b', '@example.com', 'a@b@c', 'a'.repeat(129)])('rejects the content_id %j, and names the "@"', (id) => {
    expect(readAttachments([{ content: 'YQ==', filename: 'a', content_id: id }]).faults).toEqual([
      { path: 'attachments.0.content_id', message: expect.stringContaining('"@" and a domain') },
    ]);
  });
});
