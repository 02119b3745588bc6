import { Injectable } from '@nestjs/common';
import { takesMethod } from '#engine/inbound/methods.js';
import type { Preset } from '#engine/inbound/preset.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import { sampleOfType, signedSample, unsignedSample } from '#engine/inbound/sample.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { ApiError, conflict, invalid, noSuch } from '#kernel/errors.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { type Id, Ids, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { CustomHosts } from '#modules/domains/contract.js';
import { INGEST_PREFIX } from '#modules/endpoints/contract.js';
import { Presets } from '#modules/endpoints/presets.js';
import { type LiveEndpoint, secretsInForce } from './live-endpoint.js';
import { LiveEndpoints } from './live-endpoints.js';
import { Pipeline } from './pipeline.js';
import type { PipelineResult } from './pipeline-result.js';

export type Tested = PipelineResult & { verifies: boolean };

/** Sends sample events through the same pipeline as the provider's own requests. */
@Injectable()
export class SampleEvents {
  constructor(
    private readonly endpoints: LiveEndpoints,
    private readonly pipeline: Pipeline,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly customHosts: CustomHosts,
    private readonly presets: Presets,
  ) {}

  /**
   * Sends a sample event. Throws 404 for an unknown endpoint, and 409 if the endpoint does not accept the sample's
   * method. Throws 422 if only the provider can sign the sample, or if the endpoint has no secret. `keeps` returns the
   * response that is stored for the idempotency key when the event is committed.
   */
  async send(
    tenant: Tenant,
    endpointId: Id,
    options: { preset?: string; event_type?: string; body?: string },
    idempotency: IdempotentRequest | null,
    keeps: (tested: Tested) => StoredAnswer,
  ): Promise<Tested> {
    const endpoint = await this.endpoints.get(tenant.environmentId, endpointId);
    if (endpoint === null) throw noSuch('endpoint');
    const preset = options.preset === undefined ? endpoint.preset : this.presets.find(options.preset);
    if (options.preset !== undefined && preset === null)
      throw invalid([{ path: 'preset', message: 'is not a known preset' }]);
    const chosen = ofType(preset ?? plain(endpoint), options.event_type);
    const request = this.sample(endpoint, chosen, await this.urlOf(endpoint), options.body);
    if (!takesMethod(endpoint.allowedMethods, request.method))
      throw conflict(`The endpoint does not take ${request.method}, the method of sample events.`, {
        reason: 'method_not_allowed',
      });
    const verifies = endpoint.scheme.kind !== 'none';
    const result = await this.pipeline.run(endpoint, request, {
      replayOf: null,
      traceparent: undefined,
      mayBeDuplicate: false,
      idempotency: idempotency && {
        request: idempotency,
        keeps: (eventId, answer) => keeps({ eventId, answer, isDuplicate: false, verifies }),
      },
    });
    return { ...result, verifies };
  }

  /** Returns the URL that the provider would call, because some providers include this URL in the signature. */
  private async urlOf({ environmentId, domainId, path }: LiveEndpoint): Promise<string> {
    if (domainId === null) return `${this.config.baseUrl}${INGEST_PREFIX}${path}`;
    const host =
      (await this.customHosts.ofEnvironment(environmentId)).find((each) => each.domainId === domainId)?.host ?? '';
    return `https://${host}/${path.replace(/^\//, '')}`;
  }

  private sample(endpoint: LiveEndpoint, preset: Preset, url: string, body: string | undefined): ReceivedRequest {
    const nowMs = this.clock.nowMs();
    const [secret = ''] = secretsInForce(endpoint, nowMs);
    const own: Preset = {
      ...preset,
      verify: endpoint.scheme,
      sample: body === undefined ? preset.sample : { ...preset.sample, body: body.replaceAll('{{', '{ {') },
    };
    const options = { secret, url, id: showId('evt', this.ids.next()), nowMs };
    if (endpoint.scheme.kind !== 'none' && secret === '')
      throw unsigned(
        'The endpoint has no secret yet: set it with PUT /v1/endpoints/{id}/secret, or with `posthorn endpoints secret`.',
      );
    const sample = endpoint.scheme.kind === 'none' ? unsignedSample(own, options) : signedSample(own, options);
    if (sample === null)
      throw unsigned("Only the provider can sign a sample for this endpoint. Send one from the provider's console.");
    return { ...sample, ip: '127.0.0.1' };
  }
}

/** Returns a copy of the preset whose samples have another event type. Throws 422 if the preset has a fixed type. */
function ofType(preset: Preset, type: string | undefined): Preset {
  if (type === undefined) return preset;
  const sample = sampleOfType(preset, type);
  if (sample === null)
    throw invalid([
      { path: 'event_type', message: 'cannot be chosen for samples of this preset: give a body instead' },
    ]);
  return { ...preset, sample };
}

function plain({ scheme }: LiveEndpoint): Preset {
  return {
    id: 'sample',
    title: 'Sample',
    verify: scheme,
    secret: '',
    eventType: [[{ member: 'type' }]],
    dedupeId: [],
    response: null,
    retry: { note: '' },
    sample: { headers: { 'content-type': 'application/json' }, body: '{"type":"posthorn.test","id":"{{id}}"}' },
  };
}

function unsigned(message: string): ApiError {
  return new ApiError('validation_failed', message, { check: 'credentials' });
}
