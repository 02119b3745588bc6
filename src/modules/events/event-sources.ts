import { Injectable } from '@nestjs/common';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import {
  type EventAim,
  type FindAim,
  type FindApplication,
  type RequireApplication,
} from './event-sources.contract.js';

/** Resolves the endpoints and applications that event filters name. Their modules register the functions for this. */
@Injectable()
export class EventSources {
  private readonly finders: FindAim[] = [];
  private findApplication: FindApplication = async () => null;
  private requireApplication: RequireApplication = async () => {
    throw noSuch('application');
  };

  /** Resolves an `ep_` id or a path. Also resolves the id of a deleted endpoint. */
  async aim(environmentId: number, name: string): Promise<EventAim | null> {
    for (const find of this.finders) {
      const aim = await find(environmentId, name);
      if (aim !== null) return aim;
    }
    const endpointId = parseId('ep', name);
    return endpointId === null ? null : { endpointId };
  }

  /** Resolves an application's id. Also resolves the id of a deleted application. */
  application(environmentId: number, name: string): Promise<Id | null> {
    return this.findApplication(environmentId, name);
  }

  attach(find: FindAim): void {
    this.finders.push(find);
  }

  /** Resolves an application's id. Throws 404 if the application does not exist. */
  existingApplication(environmentId: number, name: string): Promise<Id> {
    return this.requireApplication(environmentId, name);
  }

  attachApplications(find: FindApplication, require: RequireApplication): void {
    this.findApplication = find;
    this.requireApplication = require;
  }
}
