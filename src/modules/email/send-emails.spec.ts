import type { Clock } from '#kernel/clock.js';
import type { Tenant } from '#kernel/tenant.js';
import type { AcceptEmail } from './accept-email.js';
import { type KeptEmail, SendEmails } from './send-emails.js';
import type { StrictBatch } from './strict-batch.js';
import type { TemplatedDrafts } from './templated-drafts.js';

describe('SendEmails', () => {
  it('reads at most eight emails of a batch at the same time, because each can read a template', async () => {
    let running = 0;
    let runningMax = 0;
    const read: unknown[] = [];
    const drafts = {
      read: async (_tenant: Tenant, given: unknown) => {
        read.push(given);
        runningMax = Math.max(runningMax, (running += 1));
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return { faults: [{ path: 'from', message: `of ${given as number}` }] };
      },
    } as unknown as TemplatedDrafts;
    const sending = new SendEmails({} as AcceptEmail, {} as StrictBatch, drafts, { nowMs: () => 0 } as Clock);
    const given = Array.from({ length: 100 }, (_, i) => i);

    const outcomes = await sending.batch({} as Tenant, given, null, {} as KeptEmail);

    expect(runningMax).toBe(8);
    expect(read).toEqual(given);
    expect(outcomes.map((outcome) => 'error' in outcome && outcome.error.message)).toEqual(
      given.map((i) => `from: of ${i}`),
    );
  });
});
