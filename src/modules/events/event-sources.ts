import { Injectable } from '@nestjs/common';
import { parseId } from '#kernel/ids.js';
import { EventSources, type EventAim, type FindAim } from '#modules/ledger/accept.contract.js';

/** Asks every context that has endpoints. */
@Injectable()
export class AttachedEventSources extends EventSources {
  private readonly finders: FindAim[] = [];

  override async aim(environmentId: number, name: string): Promise<EventAim | null> {
    for (const find of this.finders) {
      const aim = await find(environmentId, name);
      if (aim !== null) return aim;
    }
    const endpointId = parseId('ep', name);
    return endpointId === null ? null : { endpointId };
  }

  override attach(find: FindAim): void {
    this.finders.push(find);
  }
}
