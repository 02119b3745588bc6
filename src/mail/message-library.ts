import DKIM from 'nodemailer/lib/dkim';
import MailComposer from 'nodemailer/lib/mail-composer';

// What builds and signs messages, in one piece: loaded with the first of them (`compose.ts`).
export { DKIM, MailComposer };
