import { type Config, loadConfig, type SamplerName } from '../config/config.js';
import { Tracing } from './tracing.js';

/** No server listens on this port, so the spans are dropped. */
const tracing = (sampler: SamplerName, ratio = '1'): Promise<Tracing> =>
  Tracing.open(
    loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_TRACES_SAMPLER: sampler,
      OTEL_TRACES_SAMPLER_ARG: ratio,
    }),
  );
const SAMPLED = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const UNSAMPLED = SAMPLED.replace(/1$/, '0');

describe('Tracing', () => {
  it.each<[SamplerName, string, string | undefined, boolean]>([
    ['parentbased_always_on', '1', undefined, true],
    ['parentbased_always_on', '1', UNSAMPLED, false],
    ['parentbased_always_off', '1', undefined, false],
    ['parentbased_always_off', '1', SAMPLED, true],
    ['always_on', '1', UNSAMPLED, true],
    ['always_off', '1', SAMPLED, false],
    ['traceidratio', '0', SAMPLED, false],
    ['traceidratio', '1', UNSAMPLED, true],
    ['parentbased_traceidratio', '0', undefined, false],
  ])(
    '%s %s with the parent %s is recorded: %s; attributes are computed only then',
    async (sampler, ratio, parent, isRecorded) => {
      let asked = 0;
      const span = (await tracing(sampler, ratio)).startDelivery(parent ?? null, () => ({ n: (asked += 1) }));
      span.end('success', () => ({ n: (asked += 1) }));

      expect(span.traceparent).toMatch(isRecorded ? /-01$/ : /-00$/);
      expect(asked).toBe(isRecorded ? 2 : 0);
    },
  );

  it("without an endpoint no attributes are computed, and the caller's context is passed on", async () => {
    const span = (await Tracing.open({ otlpEndpoint: null } as Config)).startDelivery(SAMPLED, () => {
      throw new Error('asked');
    });

    span.end('success', () => {
      throw new Error('asked');
    });

    expect(span.traceparent).toBe(SAMPLED);
  });
});
