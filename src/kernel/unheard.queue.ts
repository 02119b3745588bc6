import { ModulesContainer } from '@nestjs/core';
import type { INestApplicationContext, OnApplicationShutdown } from '@nestjs/common';
import { Queue } from 'bullmq';

/** A server that is there answers a goodbye within this time. */
const GOODBYE_MS = 2_000;

/**
 * Listens to the errors of every queue, also those of extensions and of a module that only registers one: BullMQ prints an
 * error that nobody listens to with all that hangs on it, the secret of the connection too. What uses a queue says itself
 * that it failed.
 *
 * And at the end each is left when its goodbye is not answered: behind a connection that died in silence BullMQ waits for ever,
 * and the process would be ended from outside.
 */
export function hearQueues(app: INestApplicationContext): void {
  for (const { providers } of app.get(ModulesContainer).values()) {
    for (const { instance } of providers.values()) {
      if (!(instance instanceof Queue)) continue;
      instance.on('error', () => undefined);
      leaveInTime(instance);
    }
  }
}

function leaveInTime(queue: Queue & Partial<OnApplicationShutdown>): void {
  // That of @nestjs/bullmq, which closes it.
  const goodbye = queue.onApplicationShutdown;
  if (!goodbye) return;
  queue.onApplicationShutdown = async (signal) => {
    let timer: NodeJS.Timeout | undefined;
    const isLate = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(true), GOODBYE_MS)));
    const said = Promise.resolve(goodbye.call(queue, signal)).then(() => false, () => false);
    const hasToLeave = await Promise.race([said, isLate]);
    clearTimeout(timer);
    if (hasToLeave) await queue.disconnect();
  };
}
