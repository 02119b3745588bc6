import { ModulesContainer } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { Queue } from 'bullmq';

/**
 * Listens to the errors of every queue, also those of extensions and of a module that only registers one: BullMQ prints an
 * error that nobody listens to with all that hangs on it, the secret of the connection too. What uses a queue says itself
 * that it failed.
 */
export function hearQueues(app: INestApplicationContext): void {
  for (const { providers } of app.get(ModulesContainer).values()) {
    for (const { instance } of providers.values()) if (instance instanceof Queue) instance.on('error', () => undefined);
  }
}
