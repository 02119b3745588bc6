import fc from 'fast-check';
import { DownloadBudget } from './download-budget.js';

const asker = (organization: number, endpoint = organization): { organizationId: string; endpointId: string } => ({
  organizationId: `o${organization}`,
  endpointId: `e${endpoint}`,
});

function had(budget: DownloadBudget, organization: number, { tries = 1_000, endpoints = 1, nowMs = 0 } = {}): number {
  let count = 0;
  for (let n = 0; n < tries; n += 1)
    if (budget.spend(asker(organization, organization * 1_000 + (n % endpoints)), nowMs)) count += 1;
  return count;
}

describe('DownloadBudget', () => {
  it('an endpoint has ten downloads a minute, its organization forty', () => {
    const budget = new DownloadBudget();

    expect([had(budget, 1), had(budget, 1, { endpoints: 100 })]).toEqual([10, 30]);
    expect(had(budget, 1, { nowMs: 59_999 })).toBe(0);
    expect(had(budget, 1, { nowMs: 60_000 })).toBe(10);
  });

  it('if any number of organizations use their whole limit, others still get downloads', () => {
    const budget = new DownloadBudget();

    const taken = Array.from({ length: 20 }, (_, n) => had(budget, n, { endpoints: 50 }));

    expect(taken.slice(0, 4)).toEqual([40, 40, 40, 40]);
    expect(taken.reduce((sum, count) => sum + count)).toBeLessThan(240);
    expect(Array.from({ length: 20 }, (_, n) => had(budget, 100 + n))).toEqual(Array.from({ length: 20 }, () => 2));
  });

  it('the limits per minute hold for the total and for each organization, for any order of requests', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(30), fc.nat(5)), { maxLength: 2_000 }), (asks) => {
        const budget = new DownloadBudget();
        const byEndpoint = new Map<string, number>();
        let total = 0;
        for (const [organization, endpoint] of asks) {
          if (!budget.spend(asker(organization, organization * 10 + endpoint), 0)) continue;
          const key = `${organization} ${endpoint}`;
          byEndpoint.set(key, (byEndpoint.get(key) ?? 0) + 1);
          total += 1;
        }

        expect(total).toBeLessThanOrEqual(240);
        expect(Math.max(0, ...byEndpoint.values())).toBeLessThanOrEqual(10);
      }),
    );
  });
});
