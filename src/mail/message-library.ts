import DKIM from 'nodemailer/lib/dkim';
import MailComposer from 'nodemailer/lib/mail-composer';

// One module, which `compose.ts` loads on first use.
export { DKIM, MailComposer };
