import type { Clock } from '#kernel/clock.js';
import type { Config } from '#kernel/config.js';
import type { DatabaseTime } from '#kernel/database-time.js';
import type { EmailsStore } from './emails.store.js';
import { OrphanSweep } from './orphan-sweep.js';
import type { RawEmails } from './raw-emails.js';

describe('the sweep of emails without an event', () => {
  it.each([[true, ['bytes', 'row']], [false, []]])('removes bytes and row where the clock agrees with PostgreSQL (%s)', async (isAgreed, removed) => {
    const done: string[] = [];
    const emails = { orphans: async () => [{ environmentId: 1, id: 'x' }], drop: async () => void done.push('row') } as unknown as EmailsStore;
    const raw = { remove: async () => void done.push('bytes') } as unknown as RawEmails;
    let begun = (): void => undefined;
    const turn = new Promise<void>((resolve) => (begun = resolve));
    const isAgreedWith = (): boolean => {
      begun();
      return isAgreed;
    };
    const clock = { nowMs: () => 1_800_000_000_000 } as Clock;
    const sweep = new OrphanSweep(emails, raw, { isWorker: true } as Config, { isAgreed: isAgreedWith } as DatabaseTime, clock);

    sweep.onApplicationBootstrap();
    await turn;
    await sweep.onApplicationShutdown();

    expect(done).toEqual(removed);
  });
});
