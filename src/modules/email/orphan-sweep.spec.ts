import type { Clock } from '#kernel/clock.js';
import { jobsOf } from '../../../test/support/jobs-of.js';
import type { EmailsStore } from './emails.store.js';
import { OrphanSweep } from './orphan-sweep.js';
import type { RawEmails } from './raw-emails.js';

const NOW_MS = 1_800_000_000_000;
/** Creation day of the orphaned email, in days since the epoch. */
const MADE_DAY = Math.floor(NOW_MS / 86_400_000) - 1;

describe('OrphanSweep', () => {
  it.each([
    [true, ['bytes', 'row']],
    [false, []],
  ])('removes bytes and row only if retention may remove anything (%s)', async (isOpen, removed) => {
    const done: string[] = [];
    const emails = {
      retentions: async () => [30],
      orphans: async (day: number) => (day === MADE_DAY + 30 ? [{ environmentId: 1, id: 'x' }] : []),
      drop: async () => void done.push('row'),
    } as unknown as EmailsStore;
    const raw = { remove: async () => void done.push('bytes') } as unknown as RawEmails;
    let begun = (): void => undefined;
    const turn = new Promise<void>((resolve) => (begun = resolve));
    const gate = { isOpen: async () => (begun(), isOpen) };
    const clock = { nowMs: () => NOW_MS } as Clock;
    const jobs = jobsOf(() => [new OrphanSweep(emails, raw, clock)], { gate });

    jobs.start();
    await turn;
    await jobs.stop();

    expect(done).toEqual(removed);
  });

  it('queries each day on which emails of the last days expire, according to the retention of the environments', async () => {
    const asked: number[] = [];
    let ended = (): void => undefined;
    const turn = new Promise<void>((resolve) => (ended = resolve));
    const emails = {
      retentions: async () => [1, 30],
      orphans: async (day: number) => (asked.push(day) === 8 && ended(), []),
    } as unknown as EmailsStore;
    const jobs = jobsOf(() => [new OrphanSweep(emails, {} as RawEmails, { nowMs: () => NOW_MS } as Clock)]);

    jobs.start();
    await turn;
    await jobs.stop();

    expect(asked.map((day) => day - MADE_DAY).sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 27, 28, 29, 30]);
  });
});
