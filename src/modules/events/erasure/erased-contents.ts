import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type EraseContent } from '../erasure.contract.js';

/**
 * Registry of modules that store their own copies of event content. These copies are erased together with the payload.
 */
@Injectable()
export class AttachedContents {
  private readonly erasers: EraseContent[] = [];

  attach(erase: EraseContent): void {
    this.erasers.push(erase);
  }

  async erase(environmentId: number, eventId: Id): Promise<void> {
    for (const erase of this.erasers) await erase(environmentId, eventId);
  }
}
