import type { INestApplicationContext, OnApplicationShutdown } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { Queue } from 'bullmq';

/** A server that is there answers a goodbye within this time. */
const GOODBYE_MS = 2_000;
/** Nobody is asked when a connection is given up. */
const LEAVE_MS = 500;

/**
 * Listens to the errors of every queue, also those of extensions and of a module that only registers one: BullMQ prints an
 * error that nobody listens to with all that hangs on it, the secret of the connection too. What uses a queue says itself
 * that it failed.
 *
 * And at the end each is left when its goodbye is not answered: behind a connection that died in silence BullMQ waits for ever,
 * and the process would be ended from outside.
 */
export function handleQueueErrors(app: INestApplicationContext): void {
  for (const { providers } of app.get(ModulesContainer).values()) {
    for (const { instance } of providers.values()) {
      if (!(instance instanceof Queue)) continue;
      instance.on('error', () => undefined);
      leaveInTime(instance);
    }
  }
}

function leaveInTime(queue: Queue & Partial<OnApplicationShutdown>): void {
  const disconnect = queue.disconnect.bind(queue);
  // BullMQ waits for a word of ioredis, which says none where it rests between two tries of a server that is away.
  queue.disconnect = async () => void (await within(LEAVE_MS, disconnect()));
  // That of @nestjs/bullmq, which closes it.
  const goodbye = queue.onApplicationShutdown;
  if (!goodbye) return;
  queue.onApplicationShutdown = async (signal) => {
    if (!(await within(GOODBYE_MS, Promise.resolve(goodbye.call(queue, signal))))) await queue.disconnect();
  };
}

/** Whether it ended by then, in whatever way. */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  const hasEnded = await Promise.race([
    work.then(
      () => true,
      () => true,
    ),
    isLate,
  ]);
  clearTimeout(timer);
  return hasEnded;
}
