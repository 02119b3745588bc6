import { Injectable } from '@nestjs/common';
import { domainOf } from '#engine/mail/addresses.js';
import { authenticationResults, forwardTrace } from '#engine/mail/forward-trace.js';
import type { AuthVerdict } from '#engine/mail/mail-verdicts.js';
import { receivingName } from '#engine/mail/platform-zone.js';
import { Config } from '#kernel/config/config.js';
import { showId } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { FollowUpEmails, followUpId } from '#modules/email/follow-up-emails.js';
import { ReturnPaths } from '#modules/email/return-paths.js';
import { SenderIdentities, type Signer } from '#modules/email/sender-identity.js';
import { MessageBytes } from '../messages/message-bytes.js';
import type { PlannedForward } from '../messages/message-detail.js';
import { MailThreads } from '../reading/mail-threads.js';
import type { Decided, WaitingMessage } from '../reading/waiting-messages.store.js';
import { ForwardAddressesStore } from './forward-addresses.store.js';

/** Forwards messages to the confirmed addresses of their alias, one email for each address. */
@Injectable()
export class Forwarding {
  constructor(
    private readonly addresses: ForwardAddressesStore,
    private readonly emails: FollowUpEmails,
    private readonly identities: SenderIdentities,
    private readonly returnPaths: ReturnPaths,
    private readonly bytes: MessageBytes,
    private readonly threads: MailThreads,
    private readonly environments: Environments,
    private readonly config: Config,
  ) {}

  /** Returns one planned copy per forward address of the alias, or null if the alias does not forward mail. */
  async plan(message: WaitingMessage, decided: Decided): Promise<PlannedForward[] | null> {
    const { environmentId, forwardTo } = message;
    if (forwardTo.length === 0) return null;
    const states = await this.addresses.statesOf(environmentId, forwardTo);
    return forwardTo.map((address) => {
      const state = states.get(address);
      const isPending = state === undefined || state === 'pending';
      const detail = noForward(decided) ?? (state === 'refused' ? REFUSED : isPending ? PENDING : null);
      const emailId = detail === null ? followUpId(message.id, `forward ${address}`) : null;
      return { address, isPending: isPending && detail === PENDING, emailId, detail };
    });
  }

  /** Sends the planned copies. Safe to repeat. Throws 503 while storage is unavailable or the machine is overloaded. */
  async send(message: WaitingMessage, { detail, ...decided }: Decided): Promise<void> {
    const planned = (detail.forwards ?? []).filter(({ emailId }) => emailId !== null);
    if (planned.length === 0) return;
    const { environmentId, id, sizeBytes } = message;
    const original = message.raw ?? (await this.bytes.whole(environmentId, id, sizeBytes));
    // The message was erased in the meantime.
    if (original === null) return;
    const { mode } = await this.environments.get(environmentId);
    const identity = await this.identities.forwarder({ environmentId, mode }, domainOf(message.address));
    const signer = await this.identities.signer(environmentId, identity);
    const seal = await this.seal(message, { detail, ...decided }, original, signer);
    for (const { address, emailId } of planned) {
      if (emailId === null) continue;
      const token = this.returnPaths.addressFor(environmentId, emailId, [0]);
      const trace = forwardTrace({
        ownName: receivingName(this.config),
        helo: message.helo,
        clientIp: message.clientIp,
        messageId: showId('evt', id),
        aliasId: showId('al', message.aliasId),
        receivedAt: message.receivedAt,
        returnPath: `${token}@${identity.returnPathHost}`,
      });
      const copy = {
        address,
        from: detail.from,
        subject: detail.subject,
        messageId: message.messageId ?? '',
        originalSender: message.envelopeFrom,
        attachments: detail.attachments.map(({ filename, content_type, size_bytes }) => ({
          filename,
          content_type,
          size_bytes,
        })),
        raw: Buffer.concat([Buffer.from(trace), Buffer.from(seal), original]),
      };
      await this.emails.forward(message, emailId, copy, identity);
    }
  }

  /**
   * Returns an ARC set (RFC 8617): headers that pass Posthorn's verdicts to the next server. Empty if none can be
   * created.
   */
  private async seal(
    { environmentId, envelopeFrom }: WaitingMessage,
    { spf, dkim, dmarc, fromAddress, detail }: Decided,
    original: Buffer,
    { domain, selector, privateKey }: Signer,
  ): Promise<string> {
    const arc = detail.arc as AuthVerdict;
    // An ARC set must state whether the existing ARC chain is valid. After a DNS failure, this is unknown.
    if (arc === 'temperror') return '';
    const verdicts = { spf, dkim, dkimDomains: detail.dkimDomains ?? [], dmarc, arc };
    const sealed = await this.threads.seal(environmentId, original, {
      signingDomain: domain,
      selector,
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      authResults: authenticationResults(receivingName(this.config), verdicts, { envelopeFrom, fromAddress }),
      cv: arc === 'none' || arc === 'pass' ? arc : 'fail',
    });
    return sealed ?? '';
  }
}

const PENDING = 'The owner of the address has not confirmed it yet.';
const REFUSED = 'The owner of the address refused forwarded mail.';

/** Returns the reason why a message must not be forwarded to any address. Null if it may be forwarded. */
function noForward({ reason, detail, obstacles }: Decided): string | null {
  if (reason !== null) return 'A quarantined message is not forwarded.';
  if (detail.isParked) return 'The message could not be read.';
  return obstacles?.forward ?? null;
}
