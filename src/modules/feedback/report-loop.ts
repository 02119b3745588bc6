import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { showId } from '#kernel/ids.js';
import { AttachedContents } from '#modules/events/erasure/erased-contents.js';
import { FeedbackMetrics } from './feedback.metrics.js';
import { ReportMatching } from './report-matching.js';
import { type ClaimedReport, REPORT_IN_MS, ReportsStore } from './reports.store.js';

const REST_MS = 1_000;
const SWEEP_MS = 3_600_000;
/**
 * Maximum number of reports per run. A run processes one report at a time to limit its memory, because a report can
 * have 1 MB.
 */
const TURN_MAX = 32;
const TURN_OF_ONE_MAX = 8;
/** Duration of a report's lease. After this time, another process takes over the report. */
const CLAIM_SECONDS = 120;
const AGAIN_SECONDS_FIRST = 5;
const AGAIN_SECONDS_MAX = 3_600;
/** Maximum number of retries of a notification about an unknown email. */
const UNKNOWN_EMAIL_RETRIES = 3;

/** Processes reports as they arrive, in every process that delivers. Also deletes expired reports. */
@Injectable()
export class ReportLoop implements OnModuleInit {
  private readonly logger = new Logger('MailReports');

  constructor(
    private readonly store: ReportsStore,
    private readonly matching: ReportMatching,
    private readonly metrics: FeedbackMetrics,
    private readonly contents: AttachedContents,
  ) {}

  /** Makes the erasure of a message also erase the reports about it, because a report quotes the message. */
  onModuleInit(): void {
    this.contents.attach((environmentId, eventId) => this.store.erase(environmentId, eventId));
  }

  @Every(REST_MS, { name: 'Mail reports', runsOn: 'worker', dueWork: { name: 'reports', inMs: REPORT_IN_MS } })
  async process(): Promise<LoopDelay | undefined> {
    const claimed = await this.store.claim(CLAIM_SECONDS, TURN_MAX, TURN_OF_ONE_MAX);
    for (const report of claimed) await this.look(report);
    if (claimed.some(({ environmentId }) => environmentId === null)) await this.store.dropUnmatched();
    return claimed.length > 0 ? { restMs: 0 } : undefined;
  }

  /** Processes a report. If that fails, retries it later without delaying other reports. Throws if storage is down. */
  private async look(report: ClaimedReport): Promise<void> {
    try {
      const raw = await this.store.raw(report.id);
      if (raw === null) return;
      const settled = await this.matching.settle(report, raw);
      // A provider's notification may arrive before its response to the submission of the email is recorded. Until
      // then, the email is unknown.
      if (report.source === 'ses' && settled.reason === 'email_unknown' && report.failures < UNKNOWN_EMAIL_RETRIES)
        return await this.store.again(report.id, pauseOf(report));
      await this.store.settle(report.id, settled);
      this.metrics.settled(report.source, settled.state);
      if (settled.environmentId === null && settled.state === 'unmatched')
        this.logger.log(`The report ${showId('rep', report.id)} is about an unknown email.`);
    } catch (error) {
      await this.store.again(report.id, pauseOf(report));
      this.logger.warn(`The report ${showId('rep', report.id)} will be retried: ${(error as Error).message}`);
    }
  }

  @Every(SWEEP_MS, { name: 'Mail report sweep', runsOn: 'worker', removesByAge: true })
  async sweep(): Promise<LoopDelay> {
    return { restMs: (await this.store.sweep()) ? 0 : SWEEP_MS };
  }
}

const pauseOf = ({ failures }: ClaimedReport): number =>
  Math.min(AGAIN_SECONDS_FIRST * 2 ** failures, AGAIN_SECONDS_MAX);
