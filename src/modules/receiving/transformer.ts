import { Injectable, Logger } from '@nestjs/common';
import { secretNames } from '#engine/inbound/secret-names.js';
import { unpackedBody } from '#engine/inbound/unpacked.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { TRANSFORM_TIMEOUT_MS } from '#modules/endpoints/contract.js';
import { SealedSecrets } from '#modules/secrets/sealed-secrets.js';
import { Sandbox } from '#sandbox/sandbox.js';
import { guestRequest } from './guest-request.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { returnedEvent } from './returned-event.js';
import {
  NOT_UNPACKED,
  TRANSFORMED_BYTES_MAX,
  type TransformInput,
  type TransformResult,
  UrlTransforms,
} from './url-transforms.js';

/** Runs transforms of endpoints: JavaScript in the sandbox, or a URL. Never throws: an error is a `failed` result. */
@Injectable()
export class Transformer {
  private readonly logger = new Logger(Transformer.name);

  constructor(
    private readonly sandbox: Sandbox,
    private readonly secrets: SealedSecrets,
    private readonly transforms: UrlTransforms,
    private readonly environments: Environments,
  ) {}

  /** Runs a transform. With `secrets: 'names'`, code gets secret names instead of values, as users see the result. */
  async run(
    endpoint: LiveEndpoint,
    event: TransformInput,
    { secrets = 'values' }: { secrets?: 'values' | 'names' } = {},
  ): Promise<TransformResult> {
    if (endpoint.transform === null) return { kind: 'unchanged' };
    return this.attempt(endpoint, event, secrets === 'names').catch((error: unknown): TransformResult => {
      this.logger.warn(`A transform could not be run: ${(error as Error).message}`);
      return { kind: 'busy' };
    });
  }

  private attempt(endpoint: LiveEndpoint, event: TransformInput, isShown: boolean): Promise<TransformResult> {
    return endpoint.transform?.engine === 'url'
      ? this.transforms.ask(endpoint, event)
      : this.call(endpoint, event, isShown);
  }

  private async call(
    { environmentId, id, transform }: LiveEndpoint,
    event: TransformInput,
    isShown: boolean,
  ): Promise<TransformResult> {
    const code = transform?.code ?? '';
    const { organizationId } = await this.environments.get(environmentId);
    const values = await this.secrets.resolve(environmentId, secretNames(code));
    const body = unpackedBody(event.request);
    if (body === null) return NOT_UNPACKED;
    const input = {
      id: event.eventId,
      event_type: event.eventType,
      ...guestRequest({ ...event.request, body }, event.verification),
    };
    const outcome = await this.sandbox.run({
      code,
      args: [
        JSON.stringify(input),
        JSON.stringify({
          secrets: Object.fromEntries([...values].map(([name, value]) => [name, isShown ? `(${name})` : value])),
        }),
      ],
      timeoutMs: transform?.timeoutMs ?? TRANSFORM_TIMEOUT_MS.managed,
      organization: organizationId,
      endpoint: id,
      resultBytesMax: TRANSFORMED_BYTES_MAX,
    });
    if (!outcome.ok)
      return outcome.reason === 'busy'
        ? { kind: 'busy' }
        : { kind: 'failed', why: outcome.reason, message: outcome.message };
    return outcome.json === null ? { kind: 'dropped' } : returnedEvent(JSON.parse(outcome.json), input);
  }
}
