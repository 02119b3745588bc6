import { MailTransport, type Submission, type SubmissionReport } from '#modules/email/transport.contract.js';

/** `capture:`, the default: nothing leaves the install. Whoever sent it finds the message where every sent one is kept. */
export class CaptureTransport extends MailTransport {
  async submit({ recipients }: Submission): Promise<SubmissionReport> {
    const replies = recipients.map((address) => ({ address, outcome: 'accepted' as const, code: 250, enhanced: '2.0.0', text: 'Captured: EMAIL_TRANSPORT sends nothing out.' }));
    return { replies, isUnreachable: false, isFinal: true, retryAfterMs: null };
  }
}
