// Without timings, Jest sorts suites by file size. A suite of several minutes that starts last would prolong the run.
import Sequencer from '@jest/test-sequencer';

/** Slow suites, longest first. CPU-bound suites alternate with suites that mostly wait. */
export const LONG = [
  'test/architecture/plans.spec.ts',
  'test/browser/docs.e2e-spec.ts',
  'test/durability/shared-port.e2e-spec.ts',
  'test/operations/command-line-network.e2e-spec.ts',
  'test/browser/console-axe.e2e-spec.ts',
  'test/durability/kills.e2e-spec.ts',
  'test/durability/received.e2e-spec.ts',
  'test/conformance/fuzz.e2e-spec.ts',
  'test/durability/nemesis-processes.e2e-spec.ts',
  'test/durability/fan-out.e2e-spec.ts',
  'test/browser/tour.e2e-spec.ts',
  'test/durability/nemesis-clocks.e2e-spec.ts',
  'test/extensions/packed.e2e-spec.ts',
  'test/operations/tarball.e2e-spec.ts',
  'test/durability/fan-out-recover.e2e-spec.ts',
  'test/browser/login.e2e-spec.ts',
  'test/operations/metrics-rollups-folding.e2e-spec.ts',
  'test/browser/console-mail.e2e-spec.ts',
  'test/browser/console-events.e2e-spec.ts',
  'test/durability/restarts.e2e-spec.ts',
  'test/operations/queue-restarts.e2e-spec.ts',
  'test/durability/mail-kills.e2e-spec.ts',
  'test/operations/command-line.e2e-spec.ts',
  'test/extensions/misbehaving.e2e-spec.ts',
  'test/browser/console-applications.e2e-spec.ts',
  'test/browser/console-links.e2e-spec.ts',
  'test/browser/console-sending.e2e-spec.ts',
  'test/browser/console-overview.e2e-spec.ts',
  'test/browser/console-faults.e2e-spec.ts',
  'test/operations/stopping.e2e-spec.ts',
  'test/durability/replay-jobs.e2e-spec.ts',
  'test/api/emails-reports.e2e-spec.ts',
  'test/durability/forwarding-kills.e2e-spec.ts',
  'test/durability/blobs.e2e-spec.ts',
  'test/durability/emails.e2e-spec.ts',
  'test/operations/failed-starts.e2e-spec.ts',
  'test/api/system-events-batches.e2e-spec.ts',
  'test/extensions/nats.e2e-spec.ts',
  'test/api/isolation.e2e-spec.ts',
  'test/browser/console-endpoints.e2e-spec.ts',
  'test/api/bad-writes.e2e-spec.ts',
  'test/operations/lifecycle.e2e-spec.ts',
];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    // Uses Jest's order only if every suite has a timing. Jest would otherwise run suites without a timing first.
    if (sorted.every(({ duration }) => duration != null)) return sorted;
    const others = sorted.filter((test) => rank(test) < 0);
    return [
      ...sorted.filter((test) => rank(test) >= 0).sort((one, other) => rank(one) - rank(other)),
      ...others.filter(isEndToEnd),
      ...others.filter((test) => !isEndToEnd(test)),
    ];
  }
}

/** Suites with servers take up to half a minute, and the others about a second, so the others fill the end of a run. */
const isEndToEnd = ({ path }) => path.endsWith('.e2e-spec.ts');

const rank = ({ path }) => LONG.findIndex((suite) => path.replaceAll('\\', '/').endsWith(`/${suite}`));
