import { Metrics } from '#kernel/observability/metrics.js';
import type { MailPace } from '../intake/mail-pace.js';
import { PipelineMetrics } from './pipeline.metrics.js';
import type { WaitingMessagesStore } from './waiting-messages.store.js';

describe('PipelineMetrics', () => {
  it('queries the waiting messages once for each scrape', async () => {
    let asked = 0;
    const metrics = new Metrics();
    new PipelineMetrics(
      metrics,
      { waiting: async () => ((asked += 1), { seconds: asked, count: 7 }) } as unknown as WaitingMessagesStore,
      { figures: () => ({}) } as unknown as MailPace,
    );

    const scraped = [await metrics.registry.metrics(), await metrics.registry.metrics()];

    expect(asked).toBe(2);
    expect(scraped.map((text) => text.match(/^posthorn_inbox_waiting_\w+ \d+$/gm))).toEqual(
      [1, 2].map((seconds) => [`posthorn_inbox_waiting_seconds ${seconds}`, 'posthorn_inbox_waiting_messages 7']),
    );
  });

  it('shows nothing while storage is unavailable, and queries again afterwards', async () => {
    let isAway = true;
    const metrics = new Metrics();
    const waiting = async () => {
      if (isAway) throw new Error('away');
      return { seconds: 1, count: 7 };
    };
    new PipelineMetrics(
      metrics,
      { waiting } as unknown as WaitingMessagesStore,
      { figures: () => ({}) } as unknown as MailPace,
    );
    expect(await metrics.registry.metrics()).not.toMatch(/^posthorn_inbox_waiting/m);
    isAway = false;

    expect(await metrics.registry.metrics()).toContain('posthorn_inbox_waiting_messages 7');
  });
});
