import DKIM from 'nodemailer/lib/dkim';
import MailComposer from 'nodemailer/lib/mail-composer';

// A separate module, so that `compose.ts` can load these libraries on first use.
export { DKIM, MailComposer };
