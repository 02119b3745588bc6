import { Injectable } from '@nestjs/common';
import { presetOf } from '#engine/inbound/presets.js';
import type { Preset } from '#engine/inbound/preset.js';
import { signedSample, unsignedSample } from '#engine/inbound/sample.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config.js';
import { ApiError, invalid, notFound } from '#kernel/errors.js';
import { Ids, showId, type Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { INGEST_PREFIX } from '#modules/endpoints/ingest-prefix.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { LiveEndpoints } from './live-endpoints.js';
import { Pipeline, type Passed } from './pipeline.js';

/** Sends an endpoint a sample event of its provider, through the pipeline that the provider's own go through. */
@Injectable()
export class TestSample {
  constructor(
    private readonly endpoints: LiveEndpoints,
    private readonly pipeline: Pipeline,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /** Throws 404, and 422 when only the provider could sign the sample, or the endpoint has no secret to sign with. */
  async send(tenant: Tenant, endpointId: Id, options: { preset?: string; body?: string }): Promise<Passed & { verifies: boolean }> {
    const endpoint = await this.endpoints.get(tenant.environmentId, endpointId);
    if (endpoint === null) throw notFound('endpoint');
    const preset = options.preset === undefined ? endpoint.preset : presetOf(options.preset);
    if (options.preset !== undefined && preset === null) throw invalid([{ path: 'preset', message: 'is not a known preset' }]);
    const request = this.sample(endpoint, preset ?? plain(endpoint), options.body);
    const passed = await this.pipeline.pass(endpoint, request, { replayOf: null, traceparent: undefined });
    return { ...passed, verifies: endpoint.scheme.kind !== 'none' };
  }

  private sample(endpoint: LiveEndpoint, preset: Preset, body: string | undefined): ReceivedRequest {
    const nowMs = this.clock.nowMs();
    const secret = endpoint.secrets.find(({ untilMs }) => untilMs === null || untilMs > nowMs)?.secret ?? '';
    const url = `${this.config.baseUrl}${INGEST_PREFIX}${endpoint.path}`;
    const own: Preset = {
      ...preset,
      verify: endpoint.scheme,
      sample: body === undefined ? preset.sample : { ...preset.sample, body: body.replaceAll('{{', '{ {') },
    };
    const options = { secret, url, id: showId('evt', this.ids.next()), nowMs };
    if (endpoint.scheme.kind !== 'none' && secret === '') throw unsigned('The endpoint has no secret yet: set it with PUT …/secret.');
    const sample = endpoint.scheme.kind === 'none' ? unsignedSample(own, options) : signedSample(own, options);
    if (sample === null) throw unsigned('Only the provider can sign a sample for this endpoint. Send one from its console.');
    return { ...sample, ip: '127.0.0.1' };
  }
}

function plain({ scheme }: LiveEndpoint): Preset {
  return {
    id: 'sample', title: 'Sample', verify: scheme, secret: '', eventType: [], dedupeId: [], response: null, retry: { note: '' },
    sample: { headers: { 'content-type': 'application/json' }, body: '{"type":"posthorn.test","id":"{{id}}"}' },
  };
}

function unsigned(message: string): ApiError {
  return new ApiError('validation_failed', message, { check: 'credentials' });
}
