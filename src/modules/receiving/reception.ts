import { Injectable } from '@nestjs/common';
import { takesMethod } from '#engine/inbound/methods.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import { ApiError, methodNotAllowed, unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { AcceptReceived } from './accepting.js';
import { EndpointWatch } from './endpoint-watch.js';
import { IngestMetrics } from './ingest.metrics.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { LiveEndpoints } from './live-endpoints.js';
import { Pipeline } from './pipeline.js';
import type { PipelineResult } from './pipeline-result.js';
import type { RejectedBody } from './request-bodies.js';

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
    private readonly watch: EndpointWatch,
    private readonly acceptReceived: AcceptReceived,
  ) {}

  /**
   * Returns the endpoint at a path. `path` is not decoded. It is the part after the ingest prefix or, on a custom
   * domain, after the leading `/`. Returns a promise only if the endpoint has to be loaded.
   */
  find(path: string, domainId: Id | null): Addressee | null | Promise<Addressee | null> {
    return this.endpoints.at(path, domainId);
  }

  /** Throws 405 for a method that the endpoint does not accept, before the body is read. */
  admit({ endpoint: { allowedMethods } }: Addressee, method: string): void {
    if (allowedMethods === null || takesMethod(allowedMethods, method)) return;
    this.metrics.rejected('method_not_allowed');
    throw methodNotAllowed(`The endpoint does not take ${method}. Nothing was stored.`, allowedMethods);
  }

  /**
   * Records a request whose body was not read. Returns the error for the provider. Throws 503 if the database is
   * unavailable.
   */
  async reject(
    { endpoint, rest }: Addressee,
    request: Omit<ReceivedRequest, 'path'>,
    { reason, sizeBytes }: RejectedBody,
  ): Promise<ApiError> {
    if (reason === 'busy') {
      this.metrics.rejected('busy');
      return unavailable('Too many large requests are being received. Nothing was stored, send it again.');
    }
    const { maxBodyBytes } = endpoint;
    const id = await this.acceptReceived.keepTooLarge(endpoint, { ...request, path: rest }, sizeBytes);
    this.metrics.rejected('too_large');
    this.watch.countTooLarge(endpoint, id, sizeBytes);
    return new ApiError(
      'payload_too_large',
      `The body is larger than ${maxBodyBytes} bytes, the limit of this endpoint. The request was stored without it.`,
      { max_body_bytes: maxBodyBytes },
    );
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
    if (result.eventId !== null) this.watch.countVerification(endpoint, result.eventId, result.answer === 'refused');
    return result;
  }
}
