// Jest starts the suites that took longest first when it has timed them; on a fresh machine it goes by the size of files.
// A suite of minutes that is started last costs minutes.
import Sequencer from '@jest/test-sequencer';

/**
 * Longest first; what is not here takes less than half a minute. One that works the cores beside one that waits for most of its time, since three run at once
 * where there are two cores.
 */
export const LONG = [
  'test/architecture/plans.spec.ts',
  'test/durability/shared-port.e2e-spec.ts',
  'test/operations/command-line-network.e2e-spec.ts',
  'test/durability/kills.e2e-spec.ts',
  'test/durability/received.e2e-spec.ts',
  'test/conformance/fuzz.e2e-spec.ts',
  'test/durability/nemesis-processes.e2e-spec.ts',
  'test/durability/fan-out.e2e-spec.ts',
  'test/browser/docs.e2e-spec.ts',
  'test/durability/nemesis-clocks.e2e-spec.ts',
  'test/extensions/packed.e2e-spec.ts',
  'test/durability/fan-out-recover.e2e-spec.ts',
  'test/browser/login.e2e-spec.ts',
  'test/operations/metrics-rollups-folding.e2e-spec.ts',
  'test/browser/console-mail.e2e-spec.ts',
  'test/browser/console-events.e2e-spec.ts',
  'test/durability/restarts.e2e-spec.ts',
  'test/durability/mail-kills.e2e-spec.ts',
  'test/operations/command-line.e2e-spec.ts',
  'test/extensions/misbehaving.e2e-spec.ts',
  'test/browser/console-applications.e2e-spec.ts',
  'test/operations/stopping.e2e-spec.ts',
  'test/durability/replay-jobs.e2e-spec.ts',
  'test/api/emails-reports.e2e-spec.ts',
  'test/browser/tour.e2e-spec.ts',
  'test/operations/failed-starts.e2e-spec.ts',
  'test/api/system-events-telling.e2e-spec.ts',
  'test/extensions/nats.e2e-spec.ts',
  'test/api/isolation.e2e-spec.ts',
  'test/browser/console-endpoints.e2e-spec.ts',
  'test/api/bad-writes.e2e-spec.ts',
  'test/operations/lifecycle.e2e-spec.ts',
];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    // Jest sorts by its own times when it has them all, and puts what it has none of first.
    if (sorted.every(({ duration }) => duration != null)) return sorted;
    return [
      ...sorted.filter((test) => rank(test) >= 0).sort((one, other) => rank(one) - rank(other)),
      ...sorted.filter((test) => rank(test) < 0),
    ];
  }
}

const rank = ({ path }) => LONG.findIndex((suite) => path.replaceAll('\\', '/').endsWith(`/${suite}`));
