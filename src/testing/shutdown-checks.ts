import assert from 'node:assert/strict';
import { until } from './client.js';
import type { ConformanceCheck } from './conformance-check.js';
import type { DestinationScene } from './destination-scene.js';

/** Returns checks of the service's shutdown. Run them last, because they stop the service. */
export function shutdownChecks(scene: DestinationScene): ConformanceCheck[] {
  return [{ name: 'the service closes all connections at shutdown', run: () => leavesNothing(scene) }];
}

async function leavesNothing(scene: DestinationScene): Promise<void> {
  const service = await scene.service();
  await scene.delivered(await scene.send(await scene.destination()));
  // `end` rejects unless the process ends by itself, in time and with exit code 0.
  await scene.end();
  if (scene.subject.connections)
    await until(
      async () => scene.subject.connections?.(),
      (count) => count === 0,
    );
  assert.doesNotMatch(service.logs(), /unhandled/i);
}
