import type { INestApplicationContext, OnApplicationShutdown } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { Queue } from 'bullmq';

/** Time limit for closing a queue cleanly. A reachable server responds within this time. */
const GOODBYE_MS = 2_000;
/** Time limit for disconnecting a queue, which needs no response from the server. */
const LEAVE_MS = 500;

/**
 * Adds an error listener to every queue, including queues of extensions and of modules that only register a queue.
 * Without a listener, BullMQ prints the error with all objects attached to it, including the connection's password. The
 * listener logs nothing, because code that uses a queue reports its own failures.
 *
 * Also limits how long closing a queue may take at shutdown. Without the limit, BullMQ waits forever on a half-open
 * connection, and the process has to be killed.
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
  // `disconnect` waits for an event that ioredis does not emit between two connection attempts, so the wait is limited.
  queue.disconnect = async () => void (await within(LEAVE_MS, disconnect()));
  // Shutdown hook of @nestjs/bullmq that closes the queue.
  const goodbye = queue.onApplicationShutdown;
  if (!goodbye) return;
  queue.onApplicationShutdown = async (signal) => {
    if (!(await within(GOODBYE_MS, Promise.resolve(goodbye.call(queue, signal))))) await queue.disconnect();
  };
}

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
