import { Injectable } from '@nestjs/common';
import { takesMethod } from '#engine/inbound/methods.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import { methodNotAllowed } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { IngestMetrics } from './ingest.metrics.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { LiveEndpoints } from './live-endpoints.js';
import { Pipeline } from './pipeline.js';
import type { PipelineResult } from './pipeline-result.js';
import { VerificationWatch } from './verification-watch.js';

export interface Addressee {
  endpoint: LiveEndpoint;
  rest: string;
}

/** Passes requests of providers to their endpoint, and counts the results. */
@Injectable()
export class Reception {
  constructor(
    private readonly endpoints: LiveEndpoints,
    private readonly pipeline: Pipeline,
    private readonly metrics: IngestMetrics,
    private readonly verification: VerificationWatch,
  ) {}

  /** `path` is not decoded. It starts after the ingest prefix or, on a custom domain, after the slash. */
  find(path: string, domainId: Id | null): Promise<Addressee | null> {
    return this.endpoints.at(path, domainId);
  }

  /** Throws 405 for a method that the endpoint does not accept, before the body is read. */
  admit({ endpoint: { allowedMethods } }: Addressee, method: string): void {
    if (allowedMethods === null || takesMethod(allowedMethods, method)) return;
    this.metrics.notAllowed();
    throw methodNotAllowed(`The endpoint does not take ${method}. Nothing was stored.`, allowedMethods);
  }

  async receive(
    { endpoint, rest }: Addressee,
    request: Omit<ReceivedRequest, 'path'>,
    traceparent: string | undefined,
  ): Promise<PipelineResult> {
    const result = await this.pipeline.run(
      endpoint,
      { ...request, path: rest },
      { replayOf: null, traceparent, mayBeDuplicate: true },
    );
    this.metrics.received(result);
    if (result.eventId !== null) this.verification.count(endpoint, result.eventId, result.answer === 'refused');
    return result;
  }
}
