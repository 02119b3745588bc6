import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import type { Target } from '#modules/destinations/contract.js';
import { Queue } from './queue.js';
import { queueSettings } from './settings.js';

const QUEUES_MAX = 500;

/** Caches queues and their clients by destination, and evicts the least recently used ones. */
@Injectable()
export class Queues {
  private readonly queues = new Map<string, { target: Target; queue: Queue }>();

  constructor(private readonly agent: EgressAgent) {}

  /**
   * Returns the target's queue, or null for invalid settings. A queue that is replaced still sends its waiting
   * messages.
   */
  forTarget(target: Target): Queue | null {
    const key = `${target.environmentId}:${target.targetId}`;
    const known = this.queues.get(key);
    const queue = known?.target === target ? known.queue : queueFor(target, known?.queue, this.agent);
    // Moves the queue to the end of the map, because the least recently used queue is first.
    this.queues.delete(key);
    if (queue === null) return null;
    this.queues.set(key, { target, queue });
    if (this.queues.size > QUEUES_MAX) this.queues.delete(this.queues.keys().next().value ?? key);
    return queue;
  }
}

function queueFor(target: Target, known: Queue | undefined, agent: EgressAgent): Queue | null {
  const settings = queueSettings(target);
  if (settings === null) return null;
  return known !== undefined && isDeepStrictEqual(known.settings, settings) ? known : new Queue(settings, agent);
}
