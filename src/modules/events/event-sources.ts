import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { EventSources } from './contract.js';

/** Knows no endpoint until the context that has them is connected. */
@Injectable()
export class AttachedEventSources extends EventSources {
  private find: (environmentId: number, path: string) => Promise<Id | null> = () => Promise.resolve(null);

  override endpointAt(environmentId: number, path: string): Promise<Id | null> {
    return this.find(environmentId, path);
  }

  override attach(find: (environmentId: number, path: string) => Promise<Id | null>): void {
    this.find = find;
  }
}
