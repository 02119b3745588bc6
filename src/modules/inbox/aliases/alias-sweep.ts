import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import { AutoRepliesStore } from '../actions/auto-replies.store.js';
import { ForwardAddressesStore } from '../actions/forward-addresses.store.js';
import { AliasesStore } from './aliases.store.js';

const EVERY_MS = 3_600_000;

/** Deletes removed aliases without messages, unused forward addresses, and expired records of automatic replies. */
@Injectable()
export class AliasSweep {
  constructor(
    private readonly store: AliasesStore,
    private readonly addresses: ForwardAddressesStore,
    private readonly replies: AutoRepliesStore,
  ) {}

  @Every(EVERY_MS, { name: 'Alias sweep', runsOn: 'worker', removesByAge: true })
  async sweep(): Promise<void> {
    await this.store.forget();
    await this.addresses.forget();
    await this.replies.forget();
  }
}
