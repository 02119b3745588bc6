import type { SESv2Client } from '@aws-sdk/client-sesv2';
import type { EgressAgent } from '#egress/agent.js';
import { outsideOfLambda, sdkSettings } from '#egress/aws-sdk.js';
import { memoizeAsync } from '#kernel/concurrency/memoize-async.js';
import type { SesAccount } from '#kernel/config/email-transport.js';
import { MailTransport, type Submission, type SubmissionReport } from '#modules/email/transport.contract.js';
import { readSesFailure, reportForAll } from './ses-faults.js';

/** Limits of one submission, which may contain 10 MB of attachments. */
const LIMITS = { timeoutMs: 60_000, answerBytesMax: 256 * 1024 };
/** Name of the tag that holds the email's id. SES includes it in its event notifications. */
const EMAIL_TAG = 'posthorn_email';

/**
 * The `ses:REGION` transport: the API (v2) of Amazon SES. SES replaces Message-ID and Date, so they are not signed. The
 * transport makes a single attempt. The SDK reads nothing from the environment, files or metadata services. It is
 * loaded when the first email is sent.
 */
export class SesTransport extends MailTransport {
  private readonly open = memoizeAsync(() => this.connect());

  constructor(
    private readonly account: SesAccount,
    private readonly agent: EgressAgent,
  ) {
    super();
  }

  override get rewritesIdentity(): boolean {
    return true;
  }

  /** Returns false: SES rejects messages whose addresses have characters outside ASCII before the "@". */
  override offersSmtpUtf8(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async submit({ emailId, raw, recipients }: Submission): Promise<SubmissionReport> {
    const { configurationSet, credentials } = this.account;
    try {
      const { client, SendEmailCommand } = await this.open();
      const { MessageId } = await client.send(
        new SendEmailCommand({
          Destination: { ToAddresses: [...recipients] },
          Content: { Raw: { Data: raw } },
          EmailTags: [{ Name: EMAIL_TAG, Value: emailId }],
          ...(configurationSet !== null && { ConfigurationSetName: configurationSet }),
        }),
      );
      const taken = reportForAll(recipients, 'accepted', 200, `200 ${MessageId ?? 'Accepted by SES.'}`, {
        isUnreachable: false,
        retryAfterMs: null,
      });
      // With a configuration set, SES reports later events of the email, so acceptance is not yet the final result.
      return {
        ...taken,
        isFinal: configurationSet === null,
        ...(MessageId !== undefined && { providerMessageId: MessageId }),
      };
    } catch (error) {
      return readSesFailure(recipients, error, credentials);
    }
  }

  private async connect(): Promise<{
    client: SESv2Client;
    SendEmailCommand: typeof import('@aws-sdk/client-sesv2').SendEmailCommand;
  }> {
    const { SESv2Client, SendEmailCommand } = await import('@aws-sdk/client-sesv2');
    const { region, endpoint, credentials } = this.account;
    const client = outsideOfLambda(
      new SESv2Client({
        ...sdkSettings({ region, credentials }, this.agent, LIMITS),
        endpoint:
          endpoint ?? `https://email.${region}.${region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'}`,
        maxAttempts: 1,
      }),
    );
    return { client, SendEmailCommand };
  }
}
