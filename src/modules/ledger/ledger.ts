import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type NewEvent, type NewMessage, type ReceivedEvent } from './accept.contract.js';
import { Accept } from './accept.js';
import { FanOut } from './fan-out.js';
import { Receive } from './receive.js';

/** Accepts sent events, fan-outs and received events. Each of these three kinds has its own group commit. */
@Injectable()
export class Ledger implements OnApplicationShutdown {
  constructor(
    private readonly sends: Accept,
    private readonly fanOuts: FanOut,
    private readonly receives: Receive,
  ) {}

  /** Whether `accept` rejects events at the moment, because storage does not keep up. */
  get isOverloaded(): boolean {
    return this.sends.isOverloaded;
  }

  /**
   * Resolves once the event is committed in PostgreSQL. For a used idempotency key, throws `AlreadyAnswered` with the
   * stored answer, or 409 if there is none or the request differs. Throws 503 while storage is unavailable: either
   * nothing was accepted, or a retry with the same key returns the stored answer.
   */
  accept(event: NewEvent): Promise<void> {
    return this.sends.accept(event);
  }

  /** Accepts the event in the caller's transaction, so both commit or neither. Uses no idempotency key. */
  acceptWithin(event: NewEvent): Promise<void> {
    return this.sends.acceptWithin(event);
  }

  /**
   * Accepts a fan-out: the message and all its events in one commit, or nothing. Throws the same errors as `accept`.
   */
  fanOut(message: NewMessage): Promise<void> {
    return this.fanOuts.fanOut(message);
  }

  /**
   * Accepts a received event: the event, its request and its deliveries in one commit. Throws the same errors as
   * `accept`.
   */
  receive(event: ReceivedEvent): Promise<void> {
    return this.receives.receive(event);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.sends.drained(), this.fanOuts.drained(), this.receives.drained()]);
  }
}
