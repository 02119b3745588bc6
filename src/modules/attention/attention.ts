import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { idTimeMs, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { isApplicationEndpoint, ResourceNamesStore } from '#modules/names/resource-names.store.js';
import { AttentionStore, SHOWN_MAX, type SuspectDomain, type TroubledTarget } from './attention.store.js';

/** Types of problems, most serious first. */
export const CONCERN_TYPES = [
  'deliveries.overdue',
  'circuit.open',
  'target.disabled',
  'domain.paused',
  'dead_letters.growing',
  'verification.failing',
  'domain.at_risk',
  'domain.records_lost',
  'job.failed',
] as const;
export type ConcernType = (typeof CONCERN_TYPES)[number];

export interface Concern {
  type: ConcernType;
  /** Id of the affected resource in API form; null for the whole environment. */
  subject: string | null;
  name: string | null;
  since: Date;
  count: number;
  sentence: string;
  /** API path with more detail. */
  url: string;
}

/** Current problems, and the types that have more problems than are listed. */
export interface Attention {
  concerns: Concern[];
  truncated: ConcernType[];
}

const DAY_MS = 86_400_000;

/** Lists current problems from existing rows and rollups. Does not store the problems. */
@Injectable()
export class AttentionList {
  constructor(
    private readonly store: AttentionStore,
    private readonly names: ResourceNamesStore,
    private readonly clock: Clock,
  ) {}

  async list({ environmentId }: Tenant): Promise<Attention> {
    const kinds = await Promise.all([
      this.overdue(environmentId),
      this.openCircuits(environmentId),
      this.disabled(environmentId),
      this.pausedDomains(environmentId),
      this.deadLetters(environmentId),
      this.unverified(environmentId),
      this.domainsAtRisk(environmentId),
      this.lostDomains(environmentId),
      this.failedJobs(environmentId),
    ]);
    return {
      concerns: kinds.flatMap((kind) => kind.slice(0, SHOWN_MAX)),
      truncated: CONCERN_TYPES.filter((_type, i) => (kinds[i]?.length ?? 0) > SHOWN_MAX),
    };
  }

  private async overdue(environmentId: number): Promise<Concern[]> {
    const overdue = await this.store.overdue(environmentId);
    if (overdue === null) return [];
    const { since, count } = overdue;
    const sentence = `${count === 1 ? 'A delivery is' : `${count} deliveries are`} overdue by more than one minute, and no worker claims them.`;
    return [
      {
        type: 'deliveries.overdue',
        subject: null,
        name: null,
        since,
        count,
        sentence,
        url: '/v1/events?status=retrying',
      },
    ];
  }

  private async openCircuits(environmentId: number): Promise<Concern[]> {
    const rows = await this.names.withEndpointNames(environmentId, await this.store.openCircuits(environmentId));
    return rows.map((row) => ({
      type: 'circuit.open',
      ...shown(row, '/v1/emails?status=sending'),
      sentence: isMailTransport(row)
        ? `The mail transport (EMAIL_TRANSPORT) could not be reached ${row.count} times in a row: emails wait until a probe succeeds. The attempts of an email show the error.`
        : `Its circuit is open after ${row.count} failures in a row: deliveries wait until a probe succeeds.`,
    }));
  }

  private async disabled(environmentId: number): Promise<Concern[]> {
    const rows = await Promise.all([
      this.store.disabled(environmentId),
      this.store.disabledSubscriptions(environmentId),
    ]);
    const oldest = (await this.names.withEndpointNames(environmentId, rows.flat())).sort(
      (a, b) => a.since.getTime() - b.since.getTime(),
    );
    return oldest.map((row) => ({
      type: 'target.disabled',
      ...shown(row, '/v1/emails'),
      sentence: `It takes no deliveries until it is enabled: ${row.reason ?? 'it was disabled.'}`,
    }));
  }

  private async deadLetters(environmentId: number): Promise<Concern[]> {
    const rows = await this.names.withEndpointNames(environmentId, await this.store.deadLetters(environmentId));
    return rows.map((row) => ({
      type: 'dead_letters.growing',
      ...shown(row, '/v1/emails?status=dlq'),
      sentence: `${row.count === 1 ? 'A delivery' : `${row.count} deliveries`} of the last day used up all attempts, the last of them within two hours.`,
    }));
  }

  private async unverified(environmentId: number): Promise<Concern[]> {
    const rows = await this.store.unverified(environmentId, this.clock.nowMs() - DAY_MS);
    return rows.map(({ id, name, count, firstId }) => ({
      type: 'verification.failing',
      subject: showId('ep', id),
      name,
      since: new Date(idTimeMs(firstId)),
      count,
      sentence: `${count === 1 ? 'A request' : `${count} requests`} of the last day failed verification and ${count === 1 ? 'is' : 'are'} quarantined: the secret may be another one.`,
      url: `/v1/endpoints/${showId('ep', id)}`,
    }));
  }

  private async pausedDomains(environmentId: number): Promise<Concern[]> {
    const rows = await this.store.domainsOf(environmentId, 'paused');
    return rows.map((row) => ({
      type: 'domain.paused',
      ...shownDomain(row),
      sentence: `The domain is paused because of its ${rateOf(row)}: its emails wait until it is resumed.`,
    }));
  }

  private async domainsAtRisk(environmentId: number): Promise<Concern[]> {
    const rows = await this.store.domainsOf(environmentId, 'at_risk');
    return rows.map((row) => ({
      type: 'domain.at_risk',
      ...shownDomain(row),
      sentence: `The ${rateOf(row)} of the last 24 hours reached its warning limit: at the pause limit, the domain is paused.`,
    }));
  }

  private async lostDomains(environmentId: number): Promise<Concern[]> {
    const rows = await this.store.lostDomains(environmentId);
    return rows.map(({ id, host, state, since }) => ({
      type: 'domain.records_lost',
      subject: showId('dom', id),
      name: host,
      since,
      count: 1,
      sentence:
        state === 'failed'
          ? 'Required DNS records are missing, and the domain failed because of it.'
          : 'Required DNS records are missing; the domain fails if they are missing for 72 hours.',
      url: `/v1/domains/${showId('dom', id)}`,
    }));
  }

  private async failedJobs(environmentId: number): Promise<Concern[]> {
    const rows = await this.store.failedJobs(environmentId);
    return rows.map(({ id, kind, error, since }) => ({
      type: 'job.failed',
      subject: showId('rpj', id),
      name: kind,
      since,
      count: 1,
      sentence: `The job failed: ${error ?? 'it failed too often.'}`,
      url: `/v1/replays/${showId('rpj', id)}`,
    }));
  }
}

function shownDomain({
  id,
  host,
  since,
}: SuspectDomain): Pick<Concern, 'subject' | 'name' | 'since' | 'count' | 'url'> {
  const subject = showId('dom', id);
  return { subject, name: host, since, count: 1, url: `/v1/domains/${subject}/reputation` };
}

const rateOf = ({ cause }: SuspectDomain): string => (cause === 'bounce_rate' ? 'bounce rate' : 'complaint rate');

/** Returns whether the target is the destination that Posthorn created for the emails of the environment. */
const isMailTransport = ({ id, ownerId }: TroubledTarget): boolean => ownerId === id;

/** `emailsUrl`: URL for the mail transport, because its destination is internal and the API does not return it. */
function shown(of: TroubledTarget, emailsUrl: string): Pick<Concern, 'subject' | 'name' | 'since' | 'count' | 'url'> {
  const { id, name, since, count } = of;
  if (!isApplicationEndpoint(of)) {
    const subject = showId('dst', id);
    const url = isMailTransport(of) ? emailsUrl : `/v1/destinations/${subject}`;
    return { subject, name, since, count, url };
  }
  const subject = showId('ep', id);
  return { subject, name, since, count, url: `/v1/app/${showId('app', of.ownerId)}/endpoints/${subject}` };
}
