import { Injectable, Logger } from '@nestjs/common';
import { parseSpelled, spellingsOf, writeExact } from '#engine/exact-json.js';
import { jsonOf } from '#engine/inbound/body.js';
import { secretNames } from '#engine/inbound/secret-names.js';
import { unpackedBody } from '#engine/inbound/unpacked.js';
import { TRANSFORM_TIMEOUT_MS } from '#modules/endpoints/contract.js';
import { SealedSecrets } from '#modules/secrets/sealed-secrets.js';
import { SecretMask } from '#sandbox/logs.js';
import type { SandboxOutcome } from '#sandbox/outcome.js';
import { Sandbox } from '#sandbox/sandbox.js';
import { CODE_BODY_BYTES_MAX, CODE_INPUT_BYTES_MAX, type GuestRequest, guestRequest } from './guest-request.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { requestCredentials } from './request-credentials.js';
import { returnedEvent } from './returned-event.js';
import {
  NOT_UNPACKED,
  TRANSFORMED_BYTES_MAX,
  type TransformInput,
  type TransformResult,
  UrlTransforms,
} from './url-transforms.js';

/**
 * Runs transforms of endpoints, which are JavaScript in the sandbox or a URL. Never throws: an error becomes a `failed`
 * result.
 */
@Injectable()
export class Transformer {
  private readonly logger = new Logger(Transformer.name);

  constructor(
    private readonly sandbox: Sandbox,
    private readonly secrets: SealedSecrets,
    private readonly transforms: UrlTransforms,
  ) {}

  /**
   * Runs a transform. With `secrets: 'names'`, code gets the names of secrets instead of values, because users see the
   * result.
   */
  async run(
    endpoint: LiveEndpoint,
    event: TransformInput,
    { secrets = 'values' }: { secrets?: 'values' | 'names' } = {},
  ): Promise<TransformResult> {
    if (endpoint.transform === null) return { kind: 'unchanged' };
    return this.attempt(endpoint, event, secrets === 'names').catch((error: unknown): TransformResult => {
      // The body cannot be read, so a retry would fail, too. The message of the error is not passed on, because it may
      // quote the body.
      if (error instanceof RangeError || error instanceof SyntaxError) return UNREADABLE;
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
    { organizationId, environmentId, id, transform }: LiveEndpoint,
    event: TransformInput,
    isShown: boolean,
  ): Promise<TransformResult> {
    const code = transform?.code ?? '';
    const values = await this.secrets.resolve(environmentId, secretNames(code));
    const body = unpackedBody(event.request);
    if (body === null) return NOT_UNPACKED;
    if (body.length > CODE_BODY_BYTES_MAX) return { kind: 'failed', why: 'the body is over 1 MB, the limit of code' };
    const input = {
      id: event.eventId,
      event_type: event.eventType,
      ...guestRequest({ ...event.request, body }, event.verification, code),
    };
    const exact = exactBody(input, body);
    const hidden = [...requestCredentials(event.request, event.credentials), ...(isShown ? [] : values.values())];
    const outcome = await this.sandbox.run({
      code,
      args: [
        exact === undefined ? JSON.stringify(input) : writeExact({ ...input, body: exact }),
        JSON.stringify({
          secrets: Object.fromEntries([...values].map(([name, value]) => [name, isShown ? `(${name})` : value])),
        }),
      ],
      // Copies the body. The buffer is often a view of a much larger one, and the transfer would include all of it.
      body: RAW.test(code) ? new Uint8Array(body) : undefined,
      spellings: exact === undefined ? null : JSON.stringify(spellingsOf(exact)),
      secrets: hidden,
      timeoutMs: transform?.timeoutMs ?? TRANSFORM_TIMEOUT_MS.managed,
      organization: organizationId,
      endpoint: id,
      inputBytesMax: CODE_INPUT_BYTES_MAX,
      resultBytesMax: TRANSFORMED_BYTES_MAX,
    });
    const { logs } = outcome;
    return {
      ...resultOf(outcome, input, exact, new SecretMask(hidden)),
      ...(logs && { logs }),
    };
  }
}

/** Matches code that mentions the raw body. Only such code gets the body's bytes, because copying them costs time. */
const RAW = /\braw(?:Body)?\b/;
const REASON_LENGTH_MAX = 300;
const UNREADABLE: TransformResult = { kind: 'failed', why: "the body is nested too deeply, or the result isn't JSON" };

function resultOf(
  outcome: SandboxOutcome,
  input: GuestRequest & { event_type: string },
  exact: unknown,
  mask: SecretMask,
): TransformResult {
  if (!outcome.ok) {
    const { reason, message } = outcome;
    return reason === 'busy' ? { kind: 'busy' } : { kind: 'failed', why: reason, message };
  }
  if (outcome.json === null) return { kind: 'dropped' };
  const result = returnedEvent(
    outcome.json,
    input,
    exact === undefined ? JSON.stringify(input.body) : writeExact(exact),
  );
  // Masks secrets in the reason, because it may quote names that the code returned. Also limits its length.
  return result.kind === 'failed'
    ? { ...result, why: mask.apply(result.why, false).slice(0, REASON_LENGTH_MAX) }
    : result;
}

/** Returns the parsed body if it contains numbers that JavaScript would reformat, otherwise undefined. */
function exactBody(input: GuestRequest, body: Buffer): unknown {
  return jsonOf({ body }) === input.body ? parseSpelled(body.toString()) : undefined;
}
