import type { ConformanceCheck } from './conformance-check.js';
import { deliveryChecks } from './delivery-checks.js';
import { DestinationScene } from './destination-scene.js';
import type { DestinationUnderTest } from './destination-under-test.js';
import { registrationChecks } from './registration-checks.js';
import { shutdownChecks } from './shutdown-checks.js';

export interface DestinationConformance {
  /** To be run in this order, one at a time. */
  checks: readonly ConformanceCheck[];
  /** Stops what was started; to be called at the end, whatever came of the checks. */
  end(): Promise<void>;
}

/**
 * What every destination type promises, checked from outside through the API and a real target. For any runner:
 *
 *     const { checks, end } = destinationConformance(subject);
 *     for (const { name, run } of checks) it(name, run);
 *     afterAll(end);
 */
export function destinationConformance(subject: DestinationUnderTest): DestinationConformance {
  const scene = new DestinationScene(subject);
  const checks = [...registrationChecks(scene), ...deliveryChecks(scene), ...shutdownChecks(scene)];
  return { checks, end: () => scene.end() };
}
