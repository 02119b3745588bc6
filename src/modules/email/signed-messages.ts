import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { STALENESS_MAX_MS } from '#kernel/concurrency/cache.js';
import { isStorageAway } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { idTimeMs } from '#kernel/ids.js';
import { dkimSignatures, isKeyChanged, NotComposed } from '#mail/compose.js';
import type { EmailEntity } from './email.entities.js';
import { EmailsStore, NOT_SIGNED, type SignedEmail } from './emails.store.js';
import { hostOfSender } from './mail-volume.js';
import { RawEmails, type StoredMessage } from './raw-emails.js';
import { SenderIdentities, type Signer } from './sender-identity.js';
import { MailTransport } from './transport.contract.js';

/** The fields of an email that identify its message and its signature. */
export type MessageKey = StoredMessage & Pick<EmailEntity, 'sender'>;

const SIGNED_TOGETHER_MAX = 64;
/** Minimum time between two commits of signatures. Signatures that arrive in between share a commit. */
const GAP_MS = 2;
/** Age below which an email keeps its signatures, because another process may know a newer key than this one. */
const NEW_MS = 2 * STALENESS_MAX_MS;

/**
 * Reads messages as they are sent. A message that a mail client submitted is signed when it is read for the first time,
 * usually by its first attempt. The signature is stored before it is used, so every process sends the same one.
 */
@Injectable()
export class SignedMessages {
  private readonly logger = new Logger(SignedMessages.name);
  private readonly signatures: GroupCommit<SignedEmail, boolean>;

  constructor(
    private readonly raw: RawEmails,
    private readonly emails: EmailsStore,
    private readonly identities: SenderIdentities,
    private readonly transport: MailTransport,
    private readonly clock: Clock,
  ) {
    this.signatures = new GroupCommit<SignedEmail, boolean>({
      write: (signed) => this.emails.sign(signed),
      isOfOne: (error) => !isStorageAway(error),
      itemsMax: SIGNED_TOGETHER_MAX,
      weigh: () => 1,
      weightMax: SIGNED_TOGETHER_MAX,
      lingerMs: 0,
      gapMs: GAP_MS,
    });
  }

  /**
   * Returns an email's whole message, or null if it no longer exists or is damaged. Throws `NotComposed` if it cannot be
   * signed, and 503 while storage is unavailable.
   */
  async whole(environmentId: number, email: MessageKey): Promise<Buffer | null> {
    const stored = await this.raw.stored(environmentId, email);
    if (stored === null || email.signature === null) return stored;
    const signature =
      email.signature === NOT_SIGNED ? await this.sign(environmentId, email, stored) : Buffer.from(email.signature);
    return signature && Buffer.concat([signature, stored]);
  }

  /**
   * Returns the message to send: the result of `whole`. If the sender's DKIM keys have changed since the email was
   * signed, adds signatures by the current keys in front, because the DNS record of the previous key may be removed.
   * Forwarded messages get no further signatures. Throws the same errors as `whole`, and 503 while the keys cannot be
   * read.
   */
  async toSend(environmentId: number, email: MessageKey & Pick<EmailEntity, 'originalSender'>): Promise<Buffer | null> {
    const whole = await this.whole(environmentId, email);
    const { id, sender, signature, originalSender } = email;
    const isNew = signature === NOT_SIGNED || this.clock.nowMs() - idTimeMs(id) < NEW_MS;
    if (whole === null || isNew || originalSender !== null) return whole;
    try {
      const signer = await this.identities.signerOf(environmentId, hostOfSender(sender));
      if (!isKeyChanged(whole, signer)) return whole;
      return Buffer.concat([await this.signaturesBy(signer, whole), whole]);
    } catch (error) {
      if (!(error instanceof NotComposed)) throw error;
      this.logger.warn(`An email keeps its signature, because the current key cannot sign: ${error.message}`);
      return whole;
    }
  }

  /**
   * Returns an email's message in chunks, and its size in bytes. Null if the message no longer exists. Throws the same
   * errors as `whole`.
   */
  async read(
    environmentId: number,
    email: MessageKey,
  ): Promise<{ chunks: AsyncIterable<Buffer>; sizeBytes: number } | null> {
    const { signature, sizeBytes } = email;
    if (signature === NOT_SIGNED) {
      const whole = await this.whole(environmentId, email);
      return whole && { chunks: chunksOf([whole]), sizeBytes: whole.length };
    }
    const chunks = await this.raw.read(environmentId, email);
    if (chunks === null) return null;
    return { chunks: signature === null ? chunks : chunksOf([Buffer.from(signature)], chunks), sizeBytes };
  }

  /** Signs a message and stores the signature. Returns the stored signature, or null if the email was erased. */
  private async sign(environmentId: number, email: MessageKey, unsigned: Buffer): Promise<Buffer | null> {
    const signer = await this.identities.signerOf(environmentId, hostOfSender(email.sender));
    const signature = await this.signaturesBy(signer, unsigned);
    const { id, expiresOn } = email;
    if (await this.signatures.add({ environmentId, id, expiresOn, signature: signature.toString() })) return signature;
    const stored = (await this.emails.state(environmentId, id))?.signature;
    return stored ? Buffer.from(stored) : null;
  }

  private signaturesBy(signer: Signer, unsigned: Buffer): Promise<Buffer> {
    const { rewritesIdentity } = this.transport;
    return dkimSignatures(unsigned, signer, { rewritesIdentity, date: this.clock.now() });
  }
}

async function* chunksOf(first: readonly Buffer[], rest: AsyncIterable<Buffer> | null = null): AsyncGenerator<Buffer> {
  yield* first;
  if (rest !== null) yield* rest;
}
