import type { OnApplicationShutdown } from '@nestjs/common';
import type { Config } from '../config/config.js';
import type { Describe, OtlpSpans, Traced } from './otlp.js';

const NOTHING: Traced = { traceparent: null, end: () => undefined };
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * One trace from accept to receipt, when an OTLP endpoint is configured: the request's span is stored with the event
 * as its `traceparent`, and each attempt is a child of it that is sent on. Without an endpoint it costs nothing, and
 * a caller's own `traceparent` is still passed through.
 */
export class Tracing implements OnApplicationShutdown {
  private constructor(private readonly spans: OtlpSpans | null) {}

  /** Loads what exports spans if there is an endpoint for them. */
  static async open(config: Config): Promise<Tracing> {
    if (config.otlpEndpoint === null) return new Tracing(null);
    const { OtlpSpans: Spans } = await import('./otlp.js');
    return new Tracing(new Spans(config, config.otlpEndpoint));
  }

  /** The span of an acceptance, below the caller's own trace when the request carries one. */
  startAccept(incoming: string | undefined, eventType: string): Traced {
    const parent = incoming !== undefined && TRACEPARENT.test(incoming) ? incoming : null;
    if (this.spans)
      return this.spans.start('posthorn.accept', 'server', parent, () => ({ 'posthorn.event_type': eventType }));
    return parent === null ? NOTHING : { traceparent: parent, end: () => undefined };
  }

  /** The span of an attempt, below the acceptance. */
  startDelivery(traceparent: string | null, describe: Describe): Traced {
    if (this.spans) return this.spans.start('posthorn.deliver', 'client', traceparent, describe);
    return traceparent === null ? NOTHING : { traceparent, end: () => undefined };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.spans?.close();
  }
}
