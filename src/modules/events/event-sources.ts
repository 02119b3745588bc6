import { Injectable } from '@nestjs/common';
import { notFound } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import {
  type EventAim,
  EventSources,
  type FindAim,
  type FindApplication,
  type RequireApplication,
} from './event-sources.contract.js';

@Injectable()
export class AttachedEventSources extends EventSources {
  private readonly finders: FindAim[] = [];
  private findApplication: FindApplication = async () => null;
  private requireApplication: RequireApplication = async () => {
    throw notFound('application');
  };

  override async aim(environmentId: number, name: string): Promise<EventAim | null> {
    for (const find of this.finders) {
      const aim = await find(environmentId, name);
      if (aim !== null) return aim;
    }
    const endpointId = parseId('ep', name);
    return endpointId === null ? null : { endpointId };
  }

  override application(environmentId: number, name: string): Promise<Id | null> {
    return this.findApplication(environmentId, name);
  }

  override attach(find: FindAim): void {
    this.finders.push(find);
  }

  override existingApplication(environmentId: number, name: string): Promise<Id> {
    return this.requireApplication(environmentId, name);
  }

  override attachApplications(find: FindApplication, require: RequireApplication): void {
    this.findApplication = find;
    this.requireApplication = require;
  }
}
