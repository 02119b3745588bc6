import { Injectable } from '@nestjs/common';
import { Notifications } from 'posthorn';
import { Connections } from './connections.js';

/** Retires a destination's connection on every node as soon as the destination is changed, disabled or deleted. */
@Injectable()
export class DestinationChanges {
  constructor(notifications: Notifications, connections: Connections) {
    notifications.on('destination', (key) => {
      const [environmentId = '', destinationId = ''] = key.split(':');
      // The key `*` stands for all destinations: changes may have been missed.
      connections.retire(key === '*' ? null : { environmentId: Number(environmentId), destinationId });
    });
  }
}
