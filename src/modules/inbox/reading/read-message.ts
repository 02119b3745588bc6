import { Injectable } from '@nestjs/common';
import { RememberedRecords } from '#egress/remembered-records.js';
import { authorIn, isAutoSubmitted } from '#engine/mail/author.js';
import { noReplyReason } from '#engine/mail/auto-reply.js';
import { cleanLine } from '#engine/mail/clean-text.js';
import { noForwardReason } from '#engine/mail/forward-trace.js';
import { authOf, dependsOnDns, quarantineReason, type Verdicts } from '#engine/mail/mail-verdicts.js';
import { fieldsOf, HEAD_BYTES_MAX, valuesOf } from '#engine/mail/message-head.js';
import { receivingName } from '#engine/mail/platform-zone.js';
import { Config } from '#kernel/config/config.js';
import { showId } from '#kernel/ids.js';
import { MessageBytes } from '../messages/message-bytes.js';
import type { authenticate as Authenticate } from './authentication.js';
import { MailThreads, type Read } from './mail-threads.js';
import { type ParsedMessage, unparsed } from './parsed-message.js';
import { Scanners } from './scanners.js';
import type { Decided, WaitingMessage } from './waiting-messages.store.js';

const ADDRESS_BYTES_MAX = 1_024;
const SUBJECT_BYTES_MAX = 4_096;

/**
 * Reads a message and decides on its delivery. Authenticates the sender, scans for spam and viruses, and parses the
 * contents.
 */
@Injectable()
export class ReadMessage {
  constructor(
    private readonly bytes: MessageBytes,
    private readonly threads: MailThreads,
    private readonly scanners: Scanners,
    private readonly records: RememberedRecords,
    private readonly config: Config,
  ) {}

  /**
   * Returns the decision, or null if the bytes were deleted. `mayChange` is true if DNS answers were missing, so that a
   * retry may decide differently.
   */
  async read(message: WaitingMessage): Promise<{ decided: Decided; mayChange: boolean } | null> {
    const raw = message.raw ?? (await this.bytes.whole(message.environmentId, message.id, message.sizeBytes));
    if (raw === null) return null;
    const [{ verdicts, parsed }, scanned] = await Promise.all([
      this.authenticated(message, raw),
      this.scanners.scan(message, raw),
    ]);
    const found = decided(
      message,
      raw,
      { ...verdicts, ...scanned },
      'fault' in parsed ? unparsed(`It could not be read: ${cleanLine(parsed.fault, 200).text}`) : parsed,
    );
    return { decided: found, mayChange: dependsOnDns(found.dmarc, found.reason) };
  }

  private async authenticated(
    message: WaitingMessage,
    raw: Buffer,
  ): Promise<{ verdicts: Awaited<ReturnType<typeof Authenticate>>; parsed: Read<ParsedMessage> }> {
    const { environmentId, clientIp, helo, envelopeFrom } = message;
    // Imported only when the first message is read, because most processes never read a message.
    const { authenticate } = await import('./authentication.js');
    const arrived = { environmentId, raw, clientIp, helo, mailFrom: envelopeFrom, ownName: receivingName(this.config) };
    let parsed: Read<ParsedMessage> = { fault: 'The message was not parsed.' };
    const verdicts = await authenticate(arrived, this.records, async (bytes, keys) => {
      const { signatures, message: read } = await this.threads.read(environmentId, bytes, keys);
      parsed = read;
      return signatures;
    });
    return { verdicts, parsed };
  }
}

/** Returns the decision for a message that could not be evaluated and needs a manual check. */
export function undecided(message: WaitingMessage, parseError: string): Decided {
  const unknown = {
    spf: 'temperror',
    dkim: 'temperror',
    dmarc: 'temperror',
    dmarcPolicy: null,
    spam: 'processing_failed',
    virus: 'processing_failed',
  } as const;
  return {
    ...unknown,
    auth: 'none',
    reason: message.reason,
    fromAddress: null,
    detail: { ...unparsed(parseError), autoSubmitted: false, arc: 'none', isParked: true },
    inReplyToEmailId: null,
  };
}

function decided(
  message: WaitingMessage,
  raw: Buffer,
  { arc, dkimDomains, ...verdicts }: Verdicts,
  parsed: ParsedMessage,
): Decided {
  const fields = fieldsOf(raw.subarray(0, HEAD_BYTES_MAX));
  const author = authorIn(raw, fields);
  const auth = authOf(verdicts.dmarc, author);
  const { sizeBytes, reason, allowedSenders, maxSizeBytes, aliasId, address, envelopeFrom, envelopeTo } = message;
  const header = (name: string, bytesMax: number): string => cleanLine(valuesOf(fields, name)[0] ?? '', bytesMax).text;
  return {
    ...verdicts,
    auth,
    reason: quarantineReason({ author, auth, verdicts, sizeBytes, reason, alias: { allowedSenders, maxSizeBytes } }),
    fromAddress: author.kind === 'one' ? author.address : null,
    detail: {
      ...parsed,
      attachments: parsed.attachments.map(({ content_disposition: _disposition, ...note }) => note),
      // The parser and the authentication may find different authors. The raw From header is then used.
      from:
        author.kind === 'one' && namesAddress(parsed.from, author.address)
          ? parsed.from
          : header('from', ADDRESS_BYTES_MAX),
      subject: parsed.subject === '' ? header('subject', SUBJECT_BYTES_MAX) : parsed.subject,
      autoSubmitted: isAutoSubmitted(fields),
      arc,
      dkimDomains,
      isParked: false,
    },
    inReplyToEmailId: null,
    obstacles: {
      forward: noForwardReason(fields, { id: showId('al', aliasId), address }),
      reply: noReplyReason({ fields, envelopeFrom, envelopeTo, auth }),
    },
  };
}

const namesAddress = (shown: string, address: string): boolean => {
  const inside = (/<([^<>]*)>$/.exec(shown)?.[1] ?? shown).toLowerCase();
  return inside.slice(0, inside.lastIndexOf('@')) === address.slice(0, address.lastIndexOf('@')).toLowerCase();
};
