import type { ProviderSecret } from './contract.js';
import { withNewSecret } from './endpoint-secrets.js';

const NOW_MS = 1_000_000;
const known = (secret: string, untilMs: number | null = null): ProviderSecret => ({ secret, untilMs });

it.each<[string, ProviderSecret[], number, ProviderSecret[]]>([
  ['the first one', [], 5_000, [known('new')]],
  ['the previous secret, for the grace period', [known('a')], 5_000, [known('new'), known('a', 1_005_000)]],
  ['no previous secret, without a grace period', [known('a'), known('b', 1_009_000)], 0, [known('new')]],
  [
    'older secrets, for no longer than before',
    [known('a'), known('b', 1_002_000)],
    5_000,
    [known('new'), known('a', 1_005_000), known('b', 1_002_000)],
  ],
  [
    'older secrets, for less time if the grace period is short',
    [known('a'), known('b', 1_009_000)],
    5_000,
    [known('new'), known('a', 1_005_000), known('b', 1_005_000)],
  ],
  [
    'no secret whose grace period has ended',
    [known('a'), known('b', 1_000_000), known('c', 999_999)],
    5_000,
    [known('new'), known('a', 1_005_000)],
  ],
  [
    'itself once, if it is already known',
    [known('a'), known('new', 1_002_000)],
    5_000,
    [known('new'), known('a', 1_005_000)],
  ],
  ['only itself, if it is the current secret', [known('new')], 5_000, [known('new')]],
  [
    'five, the newest',
    [known('a'), known('b', 1_004_000), known('c', 1_003_000), known('d', 1_002_000), known('e', 1_001_000)],
    5_000,
    [known('new'), known('a', 1_005_000), known('b', 1_004_000), known('c', 1_003_000), known('d', 1_002_000)],
  ],
])('keeps %s', (_what, before, graceMs, after) => {
  expect(withNewSecret(before, 'new', NOW_MS, graceMs)).toEqual(after);
});
