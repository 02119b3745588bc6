import { Injectable } from '@nestjs/common';
import { suppressionKey } from '#engine/mail/addresses.js';
import { isAtSimulator } from '#engine/mail/simulator.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { type Id, Ids, showId } from '#kernel/ids.js';
import { DomainMailCounts } from '#modules/domains/domain-mail-counts.js';
import { LateFailuresStore } from '#modules/ledger/late-failures.store.js';
import { SystemEvents, type SystemEventType } from '#modules/system-events/contract.js';
import { type EmailFact } from './contract.js';
import { type AppliedDeliveryEvents, applyDeliveryEvents } from './delivery-events.js';
import { EmailMetrics } from './email.metrics.js';
import { EmailChanges } from './email-changes.js';
import { EmailStates } from './email-states.js';
import { EmailsStore, type EmailState } from './emails.store.js';
import { hostOfSender, mailCountsOf } from './mail-volume.js';
import { SuppressionsStore } from './suppressions.store.js';

/** Maximum number of attempts to write. Each optimistic-lock conflict costs one attempt. */
const TRIES = 20;

const SYSTEM_EVENT_TYPES: Readonly<Record<AppliedDeliveryEvents['news'][number]['state'], SystemEventType>> = {
  bounced: 'email.bounced',
  complained: 'email.complained',
  failed: 'email.failed',
};

/** Applies delivery events to stored emails. Uses an optimistic lock, so that concurrent changes are not lost. */
@Injectable()
export class StoredDeliveryEvents {
  constructor(
    private readonly states: EmailStates,
    private readonly emails: EmailsStore,
    private readonly changes: EmailChanges,
    private readonly suppressions: SuppressionsStore,
    private readonly lateFailures: LateFailuresStore,
    private readonly systemEvents: SystemEvents,
    private readonly database: Database,
    private readonly metrics: EmailMetrics,
    private readonly domainCounts: DomainMailCounts,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /**
   * Updates the email's recipients, timeline, suppressions and system events, and the status of the email's event.
   * Resolves once all changes are committed. Ignores addresses that are not recipients, and emails that do not exist.
   * Throws while storage is unavailable.
   */
  async record(environmentId: number, emailId: Id, facts: readonly EmailFact[]): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const state = await this.states.find(environmentId, emailId);
      if (state === null || (await this.apply(environmentId, state, facts))) return;
    }
    throw new Error(`The email ${showId('evt', emailId)} changed too often to store its delivery events.`);
  }

  /** Applies delivery events to an email that the caller has just read. Reads the email again only after a conflict. */
  async recordOn(environmentId: number, state: EmailState, facts: readonly EmailFact[]): Promise<void> {
    if (!(await this.apply(environmentId, state, facts))) await this.record(environmentId, state.id, facts);
  }

  /** Applies delivery events. Returns false on an optimistic-lock conflict. */
  private async apply(environmentId: number, state: EmailState, facts: readonly EmailFact[]): Promise<boolean> {
    if (state.erasedAt !== null) return true;
    const applied = applyDeliveryEvents(state, facts, this.clock.now().toISOString());
    return !applied.isChanged || this.write(environmentId, state, applied);
  }

  /**
   * Writes the changes. Uses a group commit if only the email changes. Returns false on an optimistic-lock conflict.
   */
  private async write(environmentId: number, state: EmailState, applied: AppliedDeliveryEvents): Promise<boolean> {
    const isPlain = applied.suppressed.length === 0 && applied.news.length === 0 && !applied.isLateFailure;
    const isWritten = isPlain
      ? await this.changes.make({ environmentId, state, after: applied.after })
      : await this.database.unitOfWork(() =>
          this.database.transaction(() => this.writeAll(environmentId, state, applied)),
        );
    if (!isWritten) return false;
    for (const { state: became } of applied.news) this.metrics.recordState(became);
    this.count(environmentId, state, applied);
    return true;
  }

  /**
   * Adds the changes to the counts for the reputation of the sender's domain. Ignores captured mail and simulator
   * addresses. Ignores forwarded mail, because its stored sender is the author of the received message, which anyone
   * can forge.
   */
  private count(
    environmentId: number,
    { isCaptured, originalSender, sender, recipients }: EmailState,
    applied: AppliedDeliveryEvents,
  ): void {
    if (isCaptured || originalSender !== null) return;
    const { platformDomain } = this.config;
    const counts = mailCountsOf(recipients, applied, (address) => !isAtSimulator(address, platformDomain));
    if (counts !== null) this.domainCounts.add(environmentId, hostOfSender(sender), counts);
  }

  private async writeAll(
    environmentId: number,
    state: EmailState,
    { after, suppressed, news, isLateFailure }: AppliedDeliveryEvents,
  ): Promise<boolean> {
    const [isMade] = await this.emails.change([{ environmentId, state, after }], true);
    if (!isMade) return false;
    for (const { address, origin } of suppressed) await this.suppress(environmentId, address, origin, state.id);
    if (isLateFailure) await this.lateFailures.fail(environmentId, state, after.status);
    for (const { state: became, address, fact } of news) {
      const details = {
        email: showId('evt', state.id),
        recipient: address,
        subtype: fact.subtype,
        detail: fact.detail,
      };
      await this.systemEvents.note({ environmentId, type: SYSTEM_EVENT_TYPES[became], subject: state.id, details });
    }
    return true;
  }

  /** Suppresses an address. Does nothing for a simulator address, whose simulated behavior must not change. */
  private async suppress(
    environmentId: number,
    email: string,
    origin: 'bounce' | 'complaint',
    sourceId: Id,
  ): Promise<void> {
    if (isAtSimulator(email, this.config.platformDomain)) return;
    const forDays = origin === 'bounce' ? this.config.bounceSuppressionDays : null;
    await this.suppressions.add(
      { environmentId, origin, sourceId, forDays },
      { id: this.ids.next(), key: suppressionKey(email), email },
    );
  }
}
