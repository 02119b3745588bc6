import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import { AliasesStore } from './aliases.store.js';

const EVERY_MS = 3_600_000;

/** Deletes the rows of removed aliases once none of their messages are stored. */
@Injectable()
export class AliasSweep {
  constructor(private readonly store: AliasesStore) {}

  @Every(EVERY_MS, { name: 'Alias sweep', runsOn: 'worker', removesByAge: true })
  async sweep(): Promise<void> {
    await this.store.forget();
  }
}
