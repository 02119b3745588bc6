import { Injectable, Logger } from '@nestjs/common';
import { BlobStore } from '#blobs/contract.js';
import { admitsSender, soleSender } from '#engine/mail/allowed-senders.js';
import { fieldsOf, messageIdOf, valuesOf } from '#engine/mail/message-head.js';
import { KeyedSemaphore } from '#kernel/concurrency/keyed-semaphore.js';
import { Database } from '#kernel/database/database.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import { Ids, showId } from '#kernel/ids.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { IncomingReports } from '#modules/email/contract.js';
import type { AcceptedRecipient, AliasRoute, IncomingBytes, MailEnvelope, SmtpAnswer } from '../contract.js';
import { InboxMetrics } from '../inbox.metrics.js';
import { ANSWERS } from './answers.js';
import { MailArrivalSignal } from './mail-arrival-signal.js';
import { MailGroup, type RowOutcomes } from './mail-group.js';
import type { DoorReason, NewMessage } from './message-row.js';

/**
 * Maximum number of large messages stored at once. Each of them needs a database connection and a few MB of memory.
 * With S3, it needs as much memory as its size.
 */
const LARGE_AT_ONCE = 2;
/** Maximum time for which a large message waits to be stored. After that, the client gets a temporary error. */
const LARGE_WAIT_MS_MAX = 60_000;
const LARGE = 'large';
const IDS_SHOWN_MAX = 3;

interface Addressed {
  route: AliasRoute;
  to: string[];
}

/** Accepts messages: one row for each alias, all committed together before the client gets its reply. */
@Injectable()
export class AcceptMail {
  private readonly logger = new Logger('Inbox');
  /** Messages being stored, by alias, sender and bytes. A duplicate waits for the result of the first copy. */
  private readonly underWay = new Map<string, Promise<RowOutcomes>>();
  private readonly large = new KeyedSemaphore(LARGE_AT_ONCE);

  constructor(
    private readonly group: MailGroup,
    private readonly blobs: BlobStore,
    private readonly reports: IncomingReports,
    private readonly retention: Retention,
    private readonly database: Database,
    private readonly arrivals: MailArrivalSignal,
    private readonly metrics: InboxMetrics,
    private readonly ids: Ids,
  ) {}

  async accept(envelope: MailEnvelope, bytes: IncomingBytes): Promise<SmtpAnswer> {
    try {
      await this.takeReports(envelope, bytes);
      const addressed = byAlias(envelope.recipients);
      return addressed.length === 0 ? taken([]) : await this.store(envelope, bytes, addressed);
    } catch (error) {
      // The sender cannot fix a failure of storage. The reply is therefore temporary, and the sender's server retries.
      const isAway = error instanceof ApiError;
      this.logger[isAway ? 'warn' : 'error'](
        `A message of ${bytes.sizeBytes} bytes from ${envelope.clientIp} could not be stored: ${(error as Error).message}`,
      );
      return ANSWERS.storageAway;
    }
  }

  /**
   * Stores bounces and other reports before all other mail. Reports are deduplicated, so the client can safely send the
   * message again if a later step fails.
   */
  private async takeReports({ from, recipients, clientIp }: MailEnvelope, bytes: IncomingBytes): Promise<void> {
    const reports = recipients.filter((recipient) => recipient.kind === 'report');
    if (reports.length === 0) return;
    const raw = await beginningOf(bytes, IncomingReports.BYTES_MAX);
    for (const { report, address } of reports) {
      await this.reports.accept({ ...report, recipient: address, envelopeFrom: from, receivedFrom: clientIp }, raw);
    }
  }

  private async store(
    envelope: MailEnvelope,
    bytes: IncomingBytes,
    addressed: readonly Addressed[],
  ): Promise<SmtpAnswer> {
    const fields = fieldsOf(bytes.head);
    const sender = addressed.some(({ route }) => route.allowedSenders.length > 0)
      ? soleSender(valuesOf(fields, 'from'))
      : null;
    const reasons = addressed.map(({ route }) => doorReason(route, bytes.sizeBytes, sender));
    const hasReports = envelope.recipients.some(({ kind }) => kind === 'report');
    if (!hasReports && reasons.every((reason) => reason !== null)) {
      const isTooLarge = reasons.includes('too_large');
      this.metrics.became(isTooLarge ? 'too_large' : 'sender', addressed.length);
      return isTooLarge ? ANSWERS.tooLarge : ANSWERS.senderNotAllowed;
    }
    const rows = await Promise.all(
      addressed.map((each, i) => this.rowOf(envelope, bytes, each, reasons[i] ?? null, messageIdOf(fields))),
    );
    const outcomes = await this.once(rows, () =>
      bytes.whole === null ? this.storeLarge(rows, bytes) : this.group.add(rows),
    );
    return this.settle(rows, outcomes);
  }

  private async rowOf(
    envelope: MailEnvelope,
    bytes: IncomingBytes,
    { route, to }: Addressed,
    reason: DoorReason | null,
    messageId: string | null,
  ): Promise<NewMessage> {
    const { environmentId, aliasId } = route;
    const id = this.ids.next();
    return {
      environmentId,
      id,
      expiresOnDay: await this.retention.expiresOnDay(environmentId, id),
      aliasId,
      reason,
      envelopeFrom: clean(envelope.from),
      envelopeTo: to.map(clean),
      clientIp: envelope.clientIp,
      helo: clean(envelope.helo),
      tls: envelope.tls,
      sizeBytes: bytes.sizeBytes,
      sha256: bytes.sha256,
      raw: bytes.whole,
      messageId,
    };
  }

  /**
   * Stores rows. If a client resends a message before the first copy is committed, the second copy waits for the result
   * of the first.
   */
  private async once(rows: readonly NewMessage[], store: () => Promise<RowOutcomes>): Promise<RowOutcomes> {
    const key = keyOf(rows);
    if (key === null) return store();
    const first = this.underWay.get(key);
    if (first !== undefined) return (await first).map((outcome) => outcome ?? 'repeated');
    const storing = store();
    this.underWay.set(key, storing);
    try {
      return await storing;
    } finally {
      this.underWay.delete(key);
    }
  }

  /** Stores a large message. Commits its bytes before its row. Bytes without a row are deleted on their expiry day. */
  private async storeLarge(rows: readonly NewMessage[], bytes: IncomingBytes): Promise<RowOutcomes> {
    const stored = await this.large.run(LARGE, LARGE_WAIT_MS_MAX, async () => {
      for (const row of rows)
        await this.database.unitOfWork(() => this.blobs.putFrom(row, bytes.read(), bytes.sizeBytes));
      const outcomes = await this.group.add(rows);
      for (const [i, row] of rows.entries())
        if (outcomes[i] !== null) await this.blobs.remove(row).catch(() => undefined);
      return outcomes;
    });
    if (stored === null) throw unavailable('Too many large messages are being stored.');
    return stored;
  }

  private settle(rows: readonly NewMessage[], outcomes: RowOutcomes): SmtpAnswer {
    for (const outcome of outcomes) this.metrics.became(outcome ?? 'stored', 1);
    if (outcomes.every((outcome) => outcome === 'gone')) return ANSWERS.unknown;
    const stored = rows.filter((_, i) => outcomes[i] === null);
    if (stored.length > 0) this.arrivals.notify();
    return taken(stored);
  }
}

function doorReason(
  { maxSizeBytes, allowedSenders }: AliasRoute,
  sizeBytes: number,
  sender: string | null,
): DoorReason | null {
  if (maxSizeBytes !== null && sizeBytes > maxSizeBytes) return 'too_large';
  return admitsSender(allowedSenders, sender) ? null : 'sender_not_allowed';
}

function byAlias(recipients: readonly AcceptedRecipient[]): Addressed[] {
  const found = new Map<string, Addressed>();
  for (const recipient of recipients) {
    if (recipient.kind !== 'alias') continue;
    const known = found.get(recipient.route.aliasId);
    if (known) known.to.push(recipient.address);
    else found.set(recipient.route.aliasId, { route: recipient.route, to: [recipient.address] });
  }
  return [...found.values()];
}

/** Returns the deduplication key, or null if deduplication does not apply. */
function keyOf(rows: readonly NewMessage[]): string | null {
  const [first] = rows;
  if (first === undefined || first.messageId === null) return null;
  return [first.sha256.toString('base64'), first.envelopeFrom, ...rows.map(({ aliasId }) => aliasId)].join('\n');
}

async function beginningOf(bytes: IncomingBytes, bytesMax: number): Promise<Buffer> {
  if (bytes.whole !== null) return bytes.whole.subarray(0, bytesMax);
  const chunks: Buffer[] = [];
  let held = 0;
  for await (const chunk of bytes.read()) {
    chunks.push(chunk);
    held += chunk.length;
    if (held >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}

/**
 * Replaces control characters, because PostgreSQL's text cannot store NUL, and line feeds separate stored recipients.
 */
const clean = (text: string): string => text.replace(/[\0-\x1f\x7f]|\p{Cs}/gu, ' ');

function taken(rows: readonly NewMessage[]): SmtpAnswer {
  const shown = rows
    .slice(0, IDS_SHOWN_MAX)
    .map(({ id }) => showId('evt', id))
    .join(' ');
  return { code: 250, enhanced: '2.6.0', text: shown === '' ? 'Accepted.' : `Accepted as ${shown}` };
}
