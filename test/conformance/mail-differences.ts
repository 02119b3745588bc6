import type { Compared } from './mail-sources.js';

/** A group of deliberate differences between Posthorn and Python's email package. */
interface Difference {
  field: keyof Compared;
  reason: string;
  ids: readonly string[];
}

/**
 * Deliberate differences, by message. `mail-readers.spec.ts` fails if it finds another difference, or does not find a
 * listed difference.
 */
export const DIFFERENCES: readonly Difference[] = [
  {
    field: 'date',
    reason: 'Times of 12 hours, with AM or PM, are read.',
    ids: [
      'spam-2/00039',
      'spam-2/00059',
      'spam-2/00063',
      'spam-2/00075',
      'spam-2/00078',
      'spam-2/00079',
      'spam-2/00091',
      'spam-2/00535',
      'spam-2/01321',
    ],
  },
  {
    field: 'date',
    reason: 'A zone such as `GMT+1`, or of other than four digits, is read.',
    ids: [
      'spam-1/00068',
      'spam-1/00082',
      'spam-1/00315',
      'spam-1/00389',
      'spam-1/00390',
      'spam-2/00001',
      'spam-2/00640',
      'spam-2/00641',
    ],
  },
  {
    field: 'from',
    reason: 'A line that is no header, or a header with a space before its colon, does not end the header section.',
    ids: ['plain_emails/raw_email_incorrect_header'],
  },
  {
    field: 'to',
    reason: 'A line that is no header, or a header with a space before its colon, does not end the header section.',
    ids: ['plain_emails/raw_email_incorrect_header', 'rfc2822/example13'],
  },
  {
    field: 'subject',
    reason: 'A line that is no header, or a header with a space before its colon, does not end the header section.',
    ids: ['plain_emails/raw_email_incorrect_header', 'rfc2822/example13'],
  },
  {
    field: 'date',
    reason: 'A line that is no header, or a header with a space before its colon, does not end the header section.',
    ids: ['plain_emails/raw_email_incorrect_header', 'rfc2822/example13'],
  },
  {
    field: 'text',
    reason: 'A line that is no header, or a header with a space before its colon, does not end the header section.',
    ids: ['plain_emails/raw_email_incorrect_header', 'rfc2822/example13'],
  },
  {
    field: 'subject',
    reason: 'A carriage return alone does not end a line (RFC 5321, section 2.3.8).',
    ids: [
      'General tests/Different line endings',
      'General tests/MS Style priority',
      'General tests/No priority',
      'General tests/Reply To address',
    ],
  },
  {
    field: 'text',
    reason: 'A carriage return alone does not end a line (RFC 5321, section 2.3.8).',
    ids: [
      'General tests/Different line endings',
      'General tests/MS Style priority',
      'General tests/Multiple in-reply-to fields',
      'General tests/Multiple in-reply-to values',
      'General tests/Multiple reference fields',
      'General tests/Multiple reference values',
      'General tests/No priority',
      'General tests/Reply To address',
      'General tests/Single in-reply-to',
      'General tests/Single reference',
    ],
  },
  {
    field: 'to',
    reason: 'The words before the one with the @ are a name: `<Undisclosed Recipients@example.com>`.',
    ids: [
      'spam-2/00013',
      'spam-2/00019',
      'spam-2/00022',
      'spam-2/00024',
      'spam-2/00025',
      'spam-2/00026',
      'spam-2/00033',
      'spam-2/00041',
      'spam-2/00046',
      'spam-2/00047',
      'spam-2/00050',
      'spam-2/00052',
      'spam-2/00055',
      'spam-2/00088',
      'spam-2/00103',
      'spam-2/00105',
      'spam-2/00113',
      'spam-2/00118',
      'spam-2/00119',
      'spam-2/00121',
      'spam-2/00123',
      'spam-2/00124',
      'spam-2/00130',
      'spam-2/00131',
      'spam-2/00139',
      'spam-2/00142',
      'spam-2/00143',
      'spam-2/00144',
    ],
  },
  {
    field: 'to',
    reason:
      'A list that is written as one address stays one: `<Undisclosed-Recipient:;@example.com>`, `<C:file@example.com>`.',
    ids: [
      'easy-ham-2/01324',
      'easy-ham-2/01325',
      'easy-ham-2/01326',
      'error_emails/missing_body',
      'hard-ham-1/00199',
      'hard-ham-1/00247',
      'spam-1/00096',
      'spam-1/00133',
      'spam-1/00296',
      'spam-1/00297',
      'spam-1/00351',
      'spam-1/00368',
      'spam-1/00373',
      'spam-2/00464',
      'spam-2/00778',
      'spam-2/00929',
      'spam-2/00930',
      'spam-2/01135',
      'spam-2/01349',
    ],
  },
  {
    field: 'to',
    reason: 'The inner parentheses of a comment are part of it: `((Ada))`.',
    ids: ['easy-ham-1/00495'],
  },
  {
    field: 'from',
    reason: 'An encoded word is no address, so that no address hides in it. Only a part of an address is decoded.',
    ids: ['spam-1/00263', 'spam-1/00320', 'spam-1/00323', 'spam-1/00324'],
  },
  {
    field: 'to',
    reason: 'An encoded word is no address, so that no address hides in it. Only a part of an address is decoded.',
    ids: ['spam-1/00263', 'spam-1/00320', 'spam-1/00323', 'spam-1/00324'],
  },
  {
    field: 'from',
    reason:
      'An address with a second @, brackets, a name without quotes or an encoded word before it is kept as far as it can be read.',
    ids: [
      'Transfer encoding/gb2312 mime words',
      'plain_emails/mix_caps_content_type',
      'plain_emails/raw_email_multiple_from',
      'spam-2/00011',
      'spam-2/00080',
      'spam-2/00135',
      'spam-2/00136',
      'spam-2/00557',
    ],
  },
  {
    field: 'to',
    reason:
      'An address with a second @, brackets, a name without quotes or an encoded word before it is kept as far as it can be read.',
    ids: [
      'plain_emails/raw_email_multiple_from',
      'plain_emails/raw_email_with_at_display_name',
      'spam-2/00038',
      'spam-2/00343',
      'spam-2/00344',
      'spam-2/00528',
    ],
  },
  { field: 'to', reason: 'A word without an @ is a name without an address.', ids: ['spam-2/00818', 'spam-2/00934'] },
  { field: 'cc', reason: 'Control characters are removed.', ids: ['easy-ham-1/00714'] },
  {
    field: 'subject',
    reason:
      'The character set that is declared is used, also where some bytes are invalid in it, and its variant is that of WHATWG Encoding.',
    ids: ['spam-1/00311'],
  },
  {
    field: 'html',
    reason:
      'The character set that is declared is used, also where some bytes are invalid in it, and its variant is that of WHATWG Encoding.',
    ids: [
      'error_emails/content_transfer_encoding_empty',
      'spam-2/00006',
      'spam-2/00880',
      'spam-2/01072',
      'spam-2/01188',
    ],
  },
  {
    field: 'subject',
    reason: 'An encoded word with white space inside is decoded.',
    ids: ['Transfer encoding/Mime Words with invalid linebreaks (Sparrow)'],
  },
  { field: 'subject', reason: 'The space before an encoded word is kept.', ids: ['rfc2822/example14'] },
  {
    field: 'text',
    reason:
      'White space at the ends of lines is removed before quoted-printable is decoded (RFC 2045, section 6.7, rule 3), and invalid escapes are kept.',
    ids: [
      'Transfer encoding/Invalid Quoted-Printable',
      'hard-ham-1/00005',
      'spam-2/00673',
      'spam-2/00734',
      'spam-2/01041',
    ],
  },
  {
    field: 'html',
    reason:
      'White space at the ends of lines is removed before quoted-printable is decoded (RFC 2045, section 6.7, rule 3), and invalid escapes are kept.',
    ids: ['spam-2/01064', 'spam-2/01304'],
  },
  {
    field: 'text',
    reason:
      'Characters outside the alphabet of base64 are skipped, and a missing end is tolerated (RFC 2045, section 6.8).',
    ids: ['Transfer encoding/Invalid BASE64'],
  },
  {
    field: 'html',
    reason:
      'Characters outside the alphabet of base64 are skipped, and a missing end is tolerated (RFC 2045, section 6.8).',
    ids: ['spam-1/00313'],
  },
  {
    field: 'files',
    reason:
      'Characters outside the alphabet of base64 are skipped, and a missing end is tolerated (RFC 2045, section 6.8).',
    ids: ['spam-1/00260', 'spam-1/00307'],
  },
  {
    field: 'files',
    reason:
      'A file name has no path, and no control characters. Without quotes, it is read up to the next semicolon, and its encoded words are decoded.',
    ids: [
      'attachment_emails/attachment_with_base64_encoded_name',
      'attachment_emails/attachment_with_encoded_name',
      'attachment_emails/attachment_with_unquoted_name',
      'plain_emails/raw_email8',
      'spam-2/00773',
      'spam-2/01359',
    ],
  },
  {
    field: 'text',
    reason: 'A content type without a semicolon before its parameters is read: `text/plain charset=us-ascii`.',
    ids: ['spam-2/00204'],
  },
  {
    field: 'files',
    reason: 'A content type without a semicolon before its parameters is read: `text/plain charset=us-ascii`.',
    ids: ['spam-2/00204'],
  },
  {
    field: 'text',
    reason:
      'A multipart is split at its delimiters, whatever its transfer encoding and the characters of its boundary are.',
    ids: [
      'mime_emails/raw_email_with_binary_encoded',
      'mime_emails/raw_email_with_illegal_boundary',
      'plain_emails/raw_email_bad_time',
    ],
  },
  {
    field: 'html',
    reason:
      'A multipart is split at its delimiters, whatever its transfer encoding and the characters of its boundary are.',
    ids: ['mime_emails/raw_email_with_illegal_boundary', 'plain_emails/raw_email_bad_time'],
  },
  {
    field: 'files',
    reason:
      'A multipart is split at its delimiters, whatever its transfer encoding and the characters of its boundary are.',
    ids: ['mime_emails/raw_email_with_binary_encoded'],
  },
  {
    field: 'from',
    reason: 'Text without a character set is in the one that encoded words in the headers declare.',
    ids: ['spam-2/00706', 'spam-2/00708'],
  },
  {
    field: 'text',
    reason: 'Text without a character set is in the one that encoded words in the headers declare.',
    ids: ['spam-1/00481', 'spam-2/00706', 'spam-2/00708'],
  },
  {
    field: 'html',
    reason: 'Text without a character set is in the one that encoded words in the headers declare.',
    ids: ['spam-2/00228', 'spam-2/00246'],
  },
];
