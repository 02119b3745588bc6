import type { OnApplicationShutdown } from '@nestjs/common';
import type { Config } from '../config/config.js';
import type { Describe, OtlpSpans, Traced } from './otlp.js';

const NOTHING: Traced = { traceparent: null, during: (work) => work, end: () => undefined };
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Traces a message from its acceptance to its delivery, if an OTLP endpoint is configured. The event stores the
 * request's span, and the span of each attempt is its child. Without an endpoint, a caller's own `traceparent` is still
 * passed through.
 */
export class Tracing implements OnApplicationShutdown {
  private constructor(private readonly spans: OtlpSpans | null) {}

  static async open(config: Config): Promise<Tracing> {
    if (config.otlpEndpoint === null) return new Tracing(null);
    const { OtlpSpans: Spans } = await import('./otlp.js');
    return new Tracing(new Spans(config, config.otlpEndpoint));
  }

  /** Starts a span for accepting a message. The span belongs to the caller's trace if the request has one. */
  startAccept(incoming: string | undefined, eventType: string): Traced {
    const parent = incoming !== undefined && TRACEPARENT.test(incoming) ? incoming : null;
    if (this.spans)
      return this.spans.start('posthorn.accept', 'server', parent, () => ({ 'posthorn.event_type': eventType }));
    return parent === null ? NOTHING : { ...NOTHING, traceparent: parent };
  }

  /** Starts a span for a delivery, as a child of the span of `startAccept`. */
  startDelivery(traceparent: string | null, describe: Describe): Traced {
    if (this.spans) return this.spans.start('posthorn.deliver', 'client', traceparent, describe);
    return traceparent === null ? NOTHING : { ...NOTHING, traceparent };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.spans?.close();
  }
}
