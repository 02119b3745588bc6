import { Injectable } from '@nestjs/common';
import { ApplicationPages } from './application-pages.js';
import { CancelWork } from './cancel-work.js';
import { EraseWork } from './erase-work.js';
import { RangePages } from './range-pages.js';
import { RecoverPages } from './recover-pages.js';
import { type JobKind, type ReplayJob, subjectOf } from './replay-job.js';
import type { NextPage, PageSource, WorkSource } from './replay-pages.js';
import { RequestsWork } from './requests-work.js';
import { SelectedPages } from './selected-pages.js';

@Injectable()
export class ReplayKinds implements PageSource {
  private readonly sources: Readonly<Record<JobKind, PageSource | WorkSource>>;

  constructor(
    range: RangePages,
    recover: RecoverPages,
    application: ApplicationPages,
    requests: RequestsWork,
    erase: EraseWork,
    events: SelectedPages,
    private readonly cancel: CancelWork,
  ) {
    this.sources = { range, recover, application, requests, erase, events };
  }

  next(job: ReplayJob): Promise<NextPage> {
    const source = this.sources[job.kind === 'recover' && subjectOf(job) === 'app' ? 'application' : job.kind];
    if (!('next' in source)) throw new Error(`A job of kind ${job.kind} has no pages.`);
    return source.next(job);
  }

  /**
   * Returns the `WorkSource` of a job. `null` for a job that sends pages of events, which has a `PageSource` instead.
   */
  workOf({ kind, selection }: ReplayJob): WorkSource | null {
    if (selection?.action === 'cancel') return this.cancel;
    const source = this.sources[kind];
    return 'work' in source ? source : null;
  }
}
