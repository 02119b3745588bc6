import { readError } from './smtp-answers.js';

describe('an attempt without a reply of the mail server', () => {
  // Messages of Node.js and OpenSSL, as nodemailer passes them on.
  it.each([
    ['ESOCKET', 'self-signed certificate', 'The certificate of the mail server is not one that can be trusted.'],
    [
      'ESOCKET',
      "Hostname/IP does not match certificate's altnames: Host: a.example. is not cert's CN: b.example",
      'The certificate of the mail server is not one that can be trusted.',
    ],
    [
      'ESOCKET',
      '40B7:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:ssl3_record.c:354:',
      'The TLS handshake with the mail server failed.',
    ],
    ['ESOCKET', 'read ECONNRESET', 'The connection to the mail server ended before it answered.'],
    ['ETIMEDOUT', 'Greeting never received', 'The mail server did not answer in time.'],
  ])('%s %s: %s', (code, message, sentence) => {
    const { report } = readError(['a@b.example'], Object.assign(new Error(message), { code }));

    expect(report.replies).toMatchObject([{ text: sentence }]);
  });
});
