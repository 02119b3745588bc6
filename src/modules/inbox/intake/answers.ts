import type { SmtpAnswer } from '../contract.js';

/** What SMTP clients are told (contract, section 10). No text repeats what the client said. */
export const ANSWERS = {
  unknown: { code: 550, enhanced: '5.1.1', text: 'No such mailbox here.' },
  notOurs: { code: 550, enhanced: '5.7.1', text: 'Mail for this domain is not taken here.' },
  senderNotAllowed: {
    code: 550,
    enhanced: '5.7.1',
    text: 'The mailbox takes mail from certain senders only, and this one is none of them.',
  },
  tooLarge: { code: 552, enhanced: '5.3.4', text: 'The message is larger than the mailbox takes.' },
  paused: { code: 450, enhanced: '4.2.1', text: 'Mail for this domain is not taken at the moment, try again later.' },
  storageAway: { code: 451, enhanced: '4.3.0', text: 'Nothing can be stored at the moment, try again later.' },
} as const satisfies Record<string, SmtpAnswer>;
