import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { unavailable } from '#kernel/errors.js';
import { Ids } from '#kernel/ids.js';
import { type IncomingReport, IncomingReports } from '#modules/email/contract.js';
import { FeedbackMetrics } from './feedback.metrics.js';
import { ReportsStore } from './reports.store.js';

const TEXT_MAX = 512;

/** Stores each report in a separate commit. ReportLoop processes it later. */
@Injectable()
export class StoredReports extends IncomingReports {
  constructor(
    private readonly store: ReportsStore,
    private readonly metrics: FeedbackMetrics,
    private readonly ids: Ids,
  ) {
    super();
  }

  override async accept({ recipient, envelopeFrom, receivedFrom, ...of }: IncomingReport, raw: Buffer): Promise<void> {
    if (raw.length > IncomingReports.BYTES_MAX) throw new RangeError('A report has at most 1 MB.');
    const digest = createHash('sha256').update(`smtp\0${recipient.toLowerCase()}\0`).update(raw).digest();
    const [to, from, client] = [recipient, envelopeFrom, receivedFrom].map(stored) as [string, string, string];
    const outcome = await this.store.insert({
      ...of,
      id: this.ids.next(),
      source: 'smtp',
      recipient: to,
      envelopeFrom: from,
      receivedFrom: client,
      digest,
      raw,
    });
    this.metrics.taken('smtp', outcome);
    if (outcome === 'full')
      throw unavailable(
        `Too many reports ${of.environmentId === null ? 'to the operator' : 'about the same email'} are waiting.`,
      );
  }

  /** Stores a notification whose signature is valid. A repeated notification has the same `messageId`. */
  async acceptSigned(messageId: string, topicArn: string, notification: string): Promise<void> {
    const digest = createHash('sha256').update(`ses\0${topicArn}\0${messageId}`).digest();
    const outcome = await this.store.insert({
      id: this.ids.next(),
      environmentId: null,
      emailId: null,
      source: 'ses',
      recipient: stored(topicArn),
      envelopeFrom: '',
      receivedFrom: '',
      digest,
      raw: Buffer.from(notification),
    });
    this.metrics.taken('ses', outcome);
  }
}

/** Returns the text, truncated and without characters that PostgreSQL cannot store. */
const stored = (text: string): string => text.replace(/[\p{Cc}\p{Cs}]/gu, '').slice(0, TEXT_MAX);
