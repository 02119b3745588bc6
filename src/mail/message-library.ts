import DKIM from 'nodemailer/lib/dkim';
import MailComposer from 'nodemailer/lib/mail-composer';

// The libraries that build and sign messages, as one module that `compose.ts` loads on first use.
export { DKIM, MailComposer };
