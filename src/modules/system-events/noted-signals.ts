import { Injectable } from '@nestjs/common';
import {
  type Signal,
  type SystemEventListener,
  SystemEvents,
  type SystemEventType,
} from '#modules/system-events/contract.js';
import { SignalsStore } from './signals.store.js';

@Injectable()
export class NotedSignals extends SystemEvents {
  private readonly listeners = new Map<SystemEventType | '*', SystemEventListener[]>();

  constructor(private readonly store: SignalsStore) {
    super();
  }

  override note(signal: Signal): Promise<void> {
    return this.store.insert(signal);
  }

  override on(type: SystemEventType | '*', listener: SystemEventListener): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }

  listenersOf(type: SystemEventType): readonly SystemEventListener[] {
    return [...(this.listeners.get(type) ?? []), ...(this.listeners.get('*') ?? [])];
  }
}
