import { Injectable } from '@nestjs/common';
import { RangePages } from './range-pages.js';
import { RecoverPages } from './recover-pages.js';
import type { JobKind, ReplayJob } from './replay-job.js';
import type { NextPage, PageSource } from './replay-pages.js';

/** What jobs send, by kind. */
@Injectable()
export class ReplayKinds implements PageSource {
  private readonly sources: Readonly<Record<JobKind, PageSource>>;

  constructor(range: RangePages, recover: RecoverPages) {
    this.sources = { range, recover };
  }

  next(job: ReplayJob): Promise<NextPage> {
    return this.sources[job.kind].next(job);
  }
}
