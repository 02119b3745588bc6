import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { Loop } from '../concurrency/loop.js';
import { Notifications } from '../database/notifications.js';
import { Metrics } from './metrics.js';
import { Readiness } from './readiness.js';

/** Reports the state of background work: the loops, and the arrival of change notifications. */
@Injectable()
export class LivenessChecks {
  constructor(metrics: Metrics, readiness: Readiness, notifications: Notifications, clock: Clock) {
    const confirmedAgeMs = (): number => clock.nowMs() - notifications.confirmedUntilMs();
    readiness.register('loops', async () => {
      const late = [...Loop.running()].filter((loop) => loop.isLate()).map(({ name }) => name);
      return { ready: late.length === 0, late };
    });
    // Always ready: without notifications, caches reload their entries every five seconds, so the process is slower but
    // correct.
    readiness.register('notifications', async () => ({ ready: true, deaf: notifications.isDeaf() }));
    metrics.gauge(
      'loop_overdue_seconds',
      'Seconds for which a successful turn of a loop has been overdue.',
      ['loop'],
      (gauge) => {
        gauge.reset();
        for (const loop of Loop.running()) gauge.set({ loop: loop.name }, loop.overdueMs() / 1000);
      },
    );
    metrics.gauge(
      'notifications_heard_age_seconds',
      'Age in seconds of the last proof that notifications of other processes arrive here.',
      [],
      (gauge) => {
        if (notifications.confirmedUntilMs() > 0) gauge.set(confirmedAgeMs() / 1000);
      },
    );
  }
}
