import { Injectable } from '@nestjs/common';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import type { Id } from '#kernel/ids.js';
import { IngestMetrics } from './ingest.metrics.js';
import { LiveEndpoints } from './live-endpoints.js';
import { Pipeline, type PipelineResult } from './pipeline.js';
import { VerificationWatch } from './verification-watch.js';

/** Takes what a provider sends to the endpoint that it is for, and counts what came of it. */
@Injectable()
export class Reception {
  constructor(
    private readonly endpoints: LiveEndpoints,
    private readonly pipeline: Pipeline,
    private readonly metrics: IngestMetrics,
    private readonly verification: VerificationWatch,
  ) {}

  /** `path` is what came behind the prefix, or behind the slash of a domain, as it was sent. Null when no endpoint lives there; throws as the pipeline does. */
  async receive(
    { path, domainId }: { path: string; domainId: Id | null }, request: Omit<ReceivedRequest, 'path'>, traceparent: string | undefined,
  ): Promise<PipelineResult | null> {
    const found = await this.endpoints.at(path, domainId);
    if (found === null) return null;
    const result = await this.pipeline.run(found.endpoint, { ...request, path: found.rest }, { replayOf: null, traceparent });
    this.metrics.received(result);
    if (result.eventId !== null) this.verification.count(found.endpoint, result.eventId, result.answer === 'refused');
    return result;
  }
}
