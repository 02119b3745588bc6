import { Injectable, Logger } from '@nestjs/common';
import { cleanLine } from '#engine/mail/clean-text.js';
import { Clock } from '#kernel/clock.js';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { Config } from '#kernel/config/config.js';
import { showId } from '#kernel/ids.js';
import { compose } from '#mail/compose.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { SenderIdentities } from '#modules/email/sender-identity.js';
import { MailTransport } from '#modules/email/transport.contract.js';
import { ForwardAddresses } from './forward-addresses.js';
import { CONFIRMATION_IN_MS, type DueConfirmation, ForwardAddressesStore } from './forward-addresses.store.js';

const EVERY_MS = 60_000;
const AT_ONCE = 20;
const TRIES_MAX = 6;
const BACKOFF_MS = 600_000;
const DETAIL_BYTES_MAX = 512;
/** Maximum time for all steps except the submission: loading keys, composing the mail and recording the result. */
const OTHER_MS_MAX = 60_000;

/**
 * Sends the mails that ask the owners of forward addresses for confirmation.
 *
 * These mails go directly to the transport and are not emails of the environment. Otherwise, everyone with read access
 * to the environment's emails could open the confirmation link.
 */
@Injectable()
export class ForwardConfirmations {
  private readonly logger = new Logger('Forward addresses');

  constructor(
    private readonly store: ForwardAddressesStore,
    private readonly addresses: ForwardAddresses,
    private readonly environments: Environments,
    private readonly identities: SenderIdentities,
    private readonly transport: MailTransport,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  @Every(EVERY_MS, {
    name: 'Forward confirmations',
    runsOn: 'worker',
    dueWork: { name: 'forward_confirmations', inMs: CONFIRMATION_IN_MS },
  })
  async sendDue(): Promise<LoopDelay | undefined> {
    const due = await this.store.claimDue(AT_ONCE, this.transport.submitMsMax + OTHER_MS_MAX);
    // Sends the mails concurrently, because the leases of all claimed mails have begun. If a mail waited for a slow
    // server, its lease could expire, and another process would send the mail as well.
    await Promise.all(due.map((each) => this.sendOne(each)));
    return due.length < AT_ONCE ? undefined : { restMs: 0 };
  }

  /** Sends one mail. Records a failure and tries again later, at most six times in total. */
  private async sendOne(due: DueConfirmation): Promise<void> {
    const { outcome, text } = await this.submit(due).catch((error: unknown) => {
      this.logger.warn(`A confirmation mail could not be sent: ${(error as Error).message}`);
      return { outcome: 'deferred' as const, text: 'The mail could not be sent.' };
    });
    const isOver = outcome !== 'deferred' || due.tries >= TRIES_MAX;
    const detail = cleanLine(text, DETAIL_BYTES_MAX).text;
    await this.store.note(due, isOver ? null : BACKOFF_MS * 2 ** due.tries, detail);
  }

  private async submit({ environmentId, address, nonce }: DueConfirmation): Promise<{ outcome: string; text: string }> {
    const { mode, organizationSlug } = await this.environments.get(environmentId);
    const { platformDomain, baseUrl } = this.config;
    const identity = await this.identities.forwarder({ environmentId, mode }, platformDomain);
    const { domain } = identity;
    const url = `${baseUrl}/forwarding?token=${this.addresses.tokenFor(environmentId, address, nonce)}`;
    const emailId = showId('evt', nonce);
    const content = {
      messageId: `<${emailId}@${domain}>`,
      date: this.clock.now(),
      from: { name: 'Posthorn', address: `postmaster@${domain}` },
      to: [{ name: '', address }],
      cc: [],
      replyTo: [],
      subject: `Confirm that ${organizationSlug} may forward mail to you`,
      html: null,
      text: textFor(organizationSlug, address, url),
      headers: { 'Auto-Submitted': 'auto-generated' },
      attachments: [],
    };
    const raw = await compose(content, await this.identities.signer(environmentId, identity), this.transport);
    const { replies } = await this.transport.submit({
      emailId,
      raw,
      mailFrom: () => `postmaster@${domain}`,
      recipients: [address],
    });
    return replies[0] ?? { outcome: 'deferred', text: 'The mail server gave no reply.' };
  }
}

const textFor = (organization: string, address: string, url: string): string =>
  `The organization "${organization}" wants to forward mail that it receives to ${address}.

Nothing is forwarded until you confirm. Open this page to confirm or to refuse:

${url}

If you do not know this organization, ignore this mail. On the same page, you can end the forwarding later.
`;
