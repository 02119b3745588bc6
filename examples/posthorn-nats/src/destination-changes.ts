import { Injectable } from '@nestjs/common';
import { Notifications } from 'posthorn';
import { Connections } from './connections.js';

/** Lets go of a destination's connection as soon as the destination is changed, disabled or deleted, on every node. */
@Injectable()
export class DestinationChanges {
  constructor(notifications: Notifications, connections: Connections) {
    notifications.on('destination', (key) => {
      const [environmentId = '', destinationId = ''] = key.split(':');
      // `*`: changes may have been missed.
      connections.retire(key === '*' ? null : { environmentId: Number(environmentId), destinationId });
    });
  }
}
