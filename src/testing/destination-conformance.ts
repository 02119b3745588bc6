import type { ConformanceCheck } from './conformance-check.js';
import { deliveryChecks } from './delivery-checks.js';
import { DestinationScene } from './destination-scene.js';
import type { DestinationUnderTest } from './destination-under-test.js';
import { registrationChecks } from './registration-checks.js';
import { shutdownChecks } from './shutdown-checks.js';

export interface DestinationConformance {
  /** The checks. Run them in this order, one at a time. */
  checks: readonly ConformanceCheck[];
  /** Stops all started processes. Call it at the end, whether or not the checks passed. */
  end(): Promise<void>;
}

/**
 * Returns the checks of the guarantees that every destination type makes. They run from outside, through the API and
 * against a real target. For any test runner:
 *
 *   const { checks, end } = destinationConformance(subject);
 *   for (const { name, run } of checks) it(name, run);
 *   afterAll(end);
 */
export function destinationConformance(subject: DestinationUnderTest): DestinationConformance {
  const scene = new DestinationScene(subject);
  const checks = [...registrationChecks(scene), ...deliveryChecks(scene), ...shutdownChecks(scene)];
  return { checks, end: () => scene.end() };
}
