import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { Database, sqlState } from '#kernel/database/database.js';
import { ApiError } from '#kernel/errors.js';
import { lowestIdAt, showId } from '#kernel/ids.js';
import { Tracing } from '#kernel/observability/tracing.js';
import { NotComposed } from '#mail/compose.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { Ledger } from '#modules/ledger/ledger.js';
import { Partitions } from '#modules/ledger/partitions.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { EmailMetrics } from './email.metrics.js';
import { EmailComposition, type Named } from './email-composition.js';
import { EmailDestination } from './email-destination.js';
import { EMAIL_EVENT_TYPE, emailEvent } from './email-event.js';
import { EmailsStore, type NewEmail } from './emails.store.js';
import { RawEmails } from './raw-emails.js';
import {
  SCHEDULED_IN_MS,
  ScheduledEmailsStore,
  type ScheduledKey,
  type ScheduledRow,
} from './scheduled-emails.store.js';
import { SenderIdentities } from './sender-identity.js';

const EVERY_MS = 1_000;
const OF_ONE_MAX = 20;
const ROUND_MAX = 200;
/**
 * Maximum duration of one run of the loop that releases scheduled emails. A longer run would look like a hang, and
 * would delay a shutdown.
 */
const TURN_MS_MAX = 10_000;
const NO_PARTITION = '23514';

/**
 * Releases scheduled emails for sending when they are due by PostgreSQL's clock. One transaction composes an email,
 * accepts it and removes it from the schedule. After a crash, an email is therefore either scheduled or accepted. Row
 * locks ensure that only one process releases an email.
 */
@Injectable()
export class ScheduledRelease {
  private readonly logger = new Logger('Email');

  constructor(
    private readonly scheduled: ScheduledEmailsStore,
    private readonly emails: EmailsStore,
    private readonly composition: EmailComposition,
    private readonly identities: SenderIdentities,
    private readonly raw: RawEmails,
    private readonly destination: EmailDestination,
    private readonly ledger: Ledger,
    private readonly days: Partitions,
    private readonly environments: Environments,
    private readonly retention: Retention,
    private readonly systemEvents: SystemEvents,
    private readonly metrics: EmailMetrics,
    private readonly tracing: Tracing,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  @Every(EVERY_MS, {
    name: 'Scheduled emails',
    runsOn: 'worker',
    dueWork: { name: 'scheduled', inMs: SCHEDULED_IN_MS },
  })
  async releaseDue(): Promise<LoopDelay | undefined> {
    const fromMs = this.clock.monotonicMs();
    for (let isProgress = true; isProgress;) {
      isProgress = false;
      for (const key of await this.scheduled.due(OF_ONE_MAX, ROUND_MAX)) {
        isProgress = (await this.releaseOne(key)) || isProgress;
        if (this.clock.monotonicMs() - fromMs >= TURN_MS_MAX) return { restMs: 0 };
      }
    }
    return undefined;
  }

  /**
   * Releases one email. Returns false if another process has locked it. Postpones the email on failure, so that it does
   * not block other emails. Throws while storage is unavailable.
   */
  private async releaseOne(key: ScheduledKey): Promise<boolean> {
    let held: ScheduledKey | null = null;
    try {
      const status = await this.database.unitOfWork(() =>
        this.database.transaction(async () => {
          const row = await this.scheduled.claim(key);
          held = row;
          return row === null ? null : this.release(row);
        }),
      );
      if (status !== null) this.metrics.released(status);
      return status !== null;
    } catch (error) {
      if (held === null) throw error;
      await this.postpone(held, error as Error);
      return true;
    }
  }

  private async release(row: ScheduledRow & { environmentId: number }): Promise<'sent' | 'failed'> {
    const { environmentId, id, messageId } = row;
    // The retention period starts when the email is released, so it does not include the time for which the email was
    // scheduled.
    const expiresOnDay = await this.retention.expiresOnDay(environmentId, lowestIdAt(this.clock.nowMs()));
    const made = await this.make({ environmentId, id, messageId, expiresOnDay }, row);
    if (made.raw !== null) await this.raw.putWith(environmentId, id, expiresOnDay, made.raw);
    await this.emails.insert(made.email);
    const targetId = await this.destination.forEnvironment(environmentId);
    const span = this.tracing.startAccept(undefined, EMAIL_EVENT_TYPE);
    const event = emailEvent(made.email, targetId, { traceparent: span.traceparent, idempotency: null });
    await span.during(this.ledger.acceptWithin(event).then(() => this.scheduled.remove(environmentId, id)));
    if (made.raw === null) await this.noteFailure(made.email);
    span.end('accepted', () => ({ 'messaging.message.id': showId('msg', id) }));
    return made.raw === null ? 'failed' : 'sent';
  }

  /**
   * Returns the composed email. If it must not be sent (for example, from an unverified domain), returns a failed
   * email.
   */
  private async make(named: Named, { draft }: ScheduledRow): Promise<{ email: NewEmail; raw: Buffer | null }> {
    try {
      const { mode, environmentId } = await this.environments.get(named.environmentId);
      const identity = await this.identities.resolve({ environmentId, mode }, draft.from.address);
      return await this.composition.make(named, draft, identity);
    } catch (error) {
      if (error instanceof NotComposed)
        return { email: this.composition.unsendable(named, draft, 'not_composed', error.message), raw: null };
      if (!(error instanceof ApiError) || error.type !== 'validation_failed') throw error;
      const reason = error.details?.['reason'];
      return {
        email: this.composition.unsendable(
          named,
          draft,
          typeof reason === 'string' ? reason : 'refused',
          error.message,
        ),
        raw: null,
      };
    }
  }

  private async noteFailure({ environmentId, id, timeline }: NewEmail): Promise<void> {
    for (const { recipient, subtype, detail } of timeline) {
      await this.systemEvents.note({
        environmentId,
        type: 'email.failed',
        subject: id,
        details: { email: showId('evt', id), recipient, subtype, detail },
      });
    }
  }

  private async postpone({ environmentId, id }: ScheduledKey, error: Error): Promise<void> {
    this.logger.error(
      `The scheduled email ${showId('evt', id)} could not be released and will be retried: ${error.message}`,
    );
    if (sqlState(error) === NO_PARTITION) await this.days.ensure();
    await this.scheduled.postpone(environmentId, id);
  }
}
