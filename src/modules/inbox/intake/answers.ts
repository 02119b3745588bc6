import type { SmtpAnswer } from '../contract.js';

/** Replies to SMTP clients. No reply repeats input of the client. */
export const ANSWERS = {
  unknown: { code: 550, enhanced: '5.1.1', text: 'No such mailbox here.' },
  notOurs: { code: 550, enhanced: '5.7.1', text: 'Mail for this domain is not accepted here.' },
  senderNotAllowed: {
    code: 550,
    enhanced: '5.7.1',
    text: 'The mailbox accepts mail from certain senders only, and this sender is not one of them.',
  },
  tooLarge: { code: 552, enhanced: '5.3.4', text: 'The message is larger than the mailbox accepts.' },
  paused: { code: 450, enhanced: '4.2.1', text: 'Mail for this domain is not accepted now, try again later.' },
  storageAway: { code: 451, enhanced: '4.3.0', text: 'Nothing can be stored now, try again later.' },
} as const satisfies Record<string, SmtpAnswer>;
