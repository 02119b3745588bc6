import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type EraseContent, ErasedContents } from '../erasure.contract.js';

@Injectable()
export class AttachedContents extends ErasedContents {
  private readonly erasers: EraseContent[] = [];

  override attach(erase: EraseContent): void {
    this.erasers.push(erase);
  }

  async erase(environmentId: number, eventId: Id): Promise<void> {
    for (const erase of this.erasers) await erase(environmentId, eventId);
  }
}
