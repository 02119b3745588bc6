import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Applications } from '#modules/applications/applications.js';
import { ResourceNamesStore } from '#modules/names/resource-names.store.js';
import { type FailingTarget, type OpenDeliveries, OverviewStore } from './overview.store.js';
import { RollupsService } from './rollups.service.js';
import type { Rollup } from './rollups.store.js';
import { type MetricsWindow, type OverviewRange, OVERVIEWS, overviewSinceMs } from './windows.js';

export interface Overview {
  window: MetricsWindow;
  sinceMs: number;
  untilMs: number;
  rollups: Rollup[];
  total: Rollup;
  open: OpenDeliveries;
}

const RANGE_DEFAULT = '24h';
const LIMIT_DEFAULT = 10;
const DAY_MS = 86_400_000;
const COUNTS = ['received', 'delivered', 'failed', 'retried', 'dlq', 'attempts'] as const;

@Injectable()
export class Overviews {
  constructor(
    private readonly store: OverviewStore,
    private readonly rollups: RollupsService,
    private readonly applications: Applications,
    private readonly names: ResourceNamesStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the overview of an application (`app_` id or uid), or of the environment. Throws 404 for an unknown
   * application.
   */
  async read(tenant: Tenant, application: string | undefined, range: OverviewRange = RANGE_DEFAULT): Promise<Overview> {
    const { environmentId } = tenant;
    const nowMs = this.clock.nowMs();
    const sinceMs = overviewSinceMs(range, nowMs);
    const { window } = OVERVIEWS[range];
    const applicationId = application === undefined ? null : await this.applications.find(environmentId, application);
    const key = applicationId === null ? null : showId('app', applicationId);
    const [rollups, open] = await Promise.all([
      this.rollups.list(tenant, key, window, { sinceMs, untilMs: nowMs + 1 }),
      this.store.open(environmentId, applicationId),
    ]);
    return { window, sinceMs, untilMs: nowMs, rollups, total: summed(sinceMs, rollups), open };
  }

  /** Returns failing targets, worst first. */
  async failing(
    { environmentId }: Tenant,
    range: OverviewRange = RANGE_DEFAULT,
    limit = LIMIT_DEFAULT,
  ): Promise<FailingTarget[]> {
    // Longer ranges use daily rollups: 30 rows per target instead of 700.
    const window = range === '7d' ? '1d' : OVERVIEWS[range].window;
    const sinceMs = overviewSinceMs(range, this.clock.nowMs()) - (range === '7d' ? DAY_MS : 0);
    const targets = await this.store.failing(environmentId, window, sinceMs, limit);
    return this.names.withEndpointNames(environmentId, targets);
  }
}

function summed(startMs: number, rollups: readonly Rollup[]): Rollup {
  const sum = { startMs, received: 0, delivered: 0, failed: 0, retried: 0, dlq: 0, attempts: 0 };
  const histogram: number[] = [];
  for (const rollup of rollups) {
    for (const count of COUNTS) sum[count] += rollup[count];
    for (const [bucket, n] of rollup.histogram.entries()) histogram[bucket] = (histogram[bucket] ?? 0) + n;
  }
  return { ...sum, histogram: Array.from(histogram, (n) => n ?? 0) };
}
