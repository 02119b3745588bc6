import {
  EgressAgent,
  EgressGate,
  type MailSubmission,
  NamedMailTransport,
  type SubmissionReport,
  Transport,
} from 'posthorn';

const API = process.env['ACME_MAIL_URL'] ?? 'https://mail.acme.example/messages';

/** Sends emails through Acme's HTTP API, which accepts raw messages. */
@Transport()
export class AcmeTransport extends NamedMailTransport {
  override readonly name = 'acme';

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
  ) {
    super();
  }

  async submit({ emailId, raw, mailFrom, recipients }: MailSubmission): Promise<SubmissionReport> {
    const verdict = this.gate.check(API);
    if (!verdict.ok) throw new Error(`ACME_MAIL_URL: ${verdict.reason}`);
    const headers = { 'x-id': emailId, 'x-sender': mailFrom(recipients), 'x-to': recipients.join(',') };
    const request = { method: 'POST', url: verdict.url, headers, body: raw, timeoutMs: 30_000, bodyBytesMax: 1024 };
    const answer = await this.agent.exchange(request);
    const status = answer.kind === 'response' ? answer.status : 0;
    const outcome = status === 202 ? 'accepted' : status === 422 ? 'failed' : 'deferred';
    const code = { accepted: 250, failed: 554, deferred: 451 }[outcome];
    const text = status === 0 ? 'Acme is not reachable.' : `Acme answered ${status}.`;
    const replies = recipients.map((address) => ({ address, outcome, code, enhanced: null, text }) as const);
    return { replies, isUnreachable: status === 0, isFinal: true, retryAfterMs: null };
  }
}
