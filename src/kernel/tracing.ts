import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Span, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Config } from './config.js';

/** A span as the service uses it: the trace context to hand on, and an end. */
export interface Traced {
  /** W3C `traceparent`, or null when nothing is traced and nothing came in. */
  traceparent: string | null;
  end(outcome: string): void;
}

const NOTHING: Traced = { traceparent: null, end: () => undefined };
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * One trace from accept to receipt, when an OTLP endpoint is configured: the request's span is stored with the event
 * as its `traceparent`, and each attempt is a child of it that is sent on. Without an endpoint it costs nothing, and
 * a caller's own `traceparent` is still passed through.
 */
@Injectable()
export class Tracing implements OnApplicationShutdown {
  private readonly provider: BasicTracerProvider | null;
  private readonly tracer: Tracer | null;

  constructor(config: Config) {
    this.provider = config.otlpEndpoint === null ? null : provider(config.otlpEndpoint);
    this.tracer = this.provider?.getTracer('posthorn') ?? null;
  }

  /** The span of an acceptance, below the caller's own trace when the request carries one. */
  startAccept(incoming: string | undefined, eventType: string): Traced {
    const parent = incoming !== undefined && TRACEPARENT.test(incoming) ? incoming : null;
    if (!this.tracer) return parent === null ? NOTHING : { traceparent: parent, end: () => undefined };
    return this.start('posthorn.accept', SpanKind.SERVER, parent, { 'messaging.event_type': eventType });
  }

  /** The span of an attempt, below the acceptance. */
  startDelivery(traceparent: string | null, destinationType: string): Traced {
    if (!this.tracer) return traceparent === null ? NOTHING : { traceparent, end: () => undefined };
    return this.start('posthorn.deliver', SpanKind.CLIENT, traceparent, { 'posthorn.destination_type': destinationType });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.provider?.shutdown().catch(() => undefined);
  }

  private start(name: string, kind: SpanKind, parent: string | null, attributes: Record<string, string>): Traced {
    const span = (this.tracer as Tracer).startSpan(name, { kind, attributes }, parentContext(parent));
    return { traceparent: traceparentOf(span), end: (outcome) => end(span, outcome) };
  }
}

function provider(endpoint: string): BasicTracerProvider {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  return new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'posthorn' }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
}

function parentContext(traceparent: string | null): typeof ROOT_CONTEXT {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (!traceId || !spanId) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: parseInt(flags ?? '01', 16), isRemote: true });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function end(span: Span, outcome: string): void {
  span.setAttribute('posthorn.outcome', outcome);
  if (outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
