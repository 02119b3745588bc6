import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Config, SamplerName } from '../config/config.js';
import { ApiError } from '../errors.js';
import { AlreadyAnswered } from '../idempotency.js';
import { VERSION } from '../version.js';

/** Returns span attributes. Called only if the span is recorded. */
export type Describe = () => Attributes;

export interface Traced {
  /** W3C `traceparent`. Null if tracing is off and the request had none. */
  traceparent: string | null;
  /** Returns the work's result. If the work fails, ends the span with its error. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Ends the span. `describe` returns the attributes that are known only at the end. */
  end(outcome: string, describe?: Describe): void;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** This class has a separate file, because loading its imports takes a tenth of the start time. */
export class OtlpSpans {
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;

  constructor(config: Config, endpoint: string) {
    this.provider = provider(config, endpoint);
    this.tracer = this.provider.getTracer('posthorn');
  }

  /** Starts a child span of `parent` (a W3C `traceparent`), or a new trace if `parent` is null. */
  start(name: string, kind: keyof typeof KINDS, parent: string | null, describe: Describe): Traced {
    const span = this.tracer.startSpan(name, { kind: KINDS[kind] }, parentContext(parent));
    if (span.isRecording()) span.setAttributes(describe());
    return {
      traceparent: traceparentOf(span),
      during: (work) =>
        work.catch((error: unknown) => {
          fail(span, error);
          throw error;
        }),
      end: (outcome, known) => end(span, outcome, known),
    };
  }

  async close(): Promise<void> {
    await this.provider.shutdown().catch(() => undefined);
  }
}

function provider({ traceSampler, traceSamplerRatio, traceResource }: Config, endpoint: string): BasicTracerProvider {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  return new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.version': VERSION, ...traceResource }),
    sampler: SAMPLERS[traceSampler](traceSamplerRatio),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
}

const SAMPLERS: Readonly<Record<SamplerName, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
};

function parentContext(traceparent: string | null): typeof ROOT_CONTEXT {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (!traceId || !spanId) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: parseInt(flags ?? '01', 16),
    isRemote: true,
  });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function fail(span: Span, error: unknown): void {
  if (error instanceof AlreadyAnswered) return end(span, 'duplicate');
  const type = error instanceof ApiError ? error.type : error instanceof Error ? error.name : 'Error';
  end(span, 'failed', () => ({ 'error.type': type }));
}

function end(span: Span, outcome: string, known?: Describe): void {
  span.setAttribute('posthorn.outcome', outcome);
  if (known && span.isRecording()) span.setAttributes(known());
  if (outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
