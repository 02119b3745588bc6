import { setTimeout as rest } from 'node:timers/promises';
import type { components, PosthornClient } from '../client/index.js';
import { EXIT } from './failure.js';
import { line, type Painted, type Terminal } from './terminal.js';

export type Job = components['schemas']['ReplayJobItem'];

const LOOK_MS = 1_000;

export function hasEnded({ state }: Job): boolean {
  return state !== 'pending' && state !== 'running';
}

export function formatJob(job: Job): Painted {
  const {
    state,
    scanned,
    total_estimate: total,
    total_is_capped: isCapped,
    replayed,
    enqueued,
    skipped,
    excluded,
    cancelled,
    error,
  } = job;
  if (!hasEnded(job)) return line`${state}: ${scanned} of ${isCapped ? `${total}+` : `about ${total}`}`;
  const done = cancelled === null ? `${replayed} events, ${enqueued} deliveries` : `${cancelled} deliveries canceled`;
  return line`${state}: ${done}${skipped > 0 ? `, ${skipped} skipped` : ''}${excluded > 0 ? `, ${excluded} erased` : ''}.${error === null ? '' : ` ${error}`}`;
}

/**
 * Prints the progress of a job until it has ended, then its result. Sets exit code 1 if the job was stopped or failed.
 */
export async function follow(client: PosthornClient, terminal: Terminal, id: string): Promise<void> {
  let said = '';
  for (;;) {
    const job = await client.get('/v1/replays/{id}', { params: { path: { id } } });
    const text = formatJob(job);
    if (hasEnded(job)) {
      terminal.show(job, () => text);
      if (job.state !== 'completed') process.exitCode = EXIT.error;
      return;
    }
    if (text.text !== said) terminal.progress(text.text);
    said = text.text;
    await rest(LOOK_MS);
  }
}
