import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { isObject } from '#engine/inbound/body.js';
import { GENERIC_SCHEMES, genericFaults, genericScheme } from '#engine/inbound/generic.js';
import type { Preset } from '#engine/inbound/preset.js';
import { PRESETS } from '#engine/inbound/presets.js';
import { responseFaults } from '#engine/inbound/response.js';
import type { Scheme, Verifier } from '#engine/inbound/scheme.js';
import { withDeadline } from '#kernel/concurrency/deadline.js';
import { unavailable } from '#kernel/errors.js';
import { InboundPreset, ProviderPreset } from './presets.contract.js';

const ID = /^[a-z][a-z0-9-]{0,63}$/;
const TEXT_LENGTH_MAX = 300;
const VERIFY_MS_MAX = 2_000;
/** Values of `verification` that a preset cannot have as its id. */
const RESERVED: readonly string[] = ['none', 'preset', ...GENERIC_SCHEMES];
const SOURCES = ['header', 'member', 'field', 'nameEnding', 'literal'];

/** The presets of all providers: built-in ones, and those marked `@InboundPreset()` in any module. */
@Injectable()
export class Presets implements OnModuleInit {
  private readonly logger = new Logger('Extensions');
  private readonly known = new Map<string, Preset>(PRESETS);

  constructor(private readonly discovery: DiscoveryService) {}

  /** Throws if a preset is invalid, or if two presets have the same id. Posthorn then does not start. */
  onModuleInit(): void {
    for (const wrapper of this.discovery.getProviders()) {
      if (this.discovery.getMetadataByDecorator(InboundPreset, wrapper) !== undefined)
        this.add(wrapper.instance as unknown, wrapper.name as string);
    }
  }

  all(): Iterable<Preset> {
    return this.known.values();
  }

  has(id: string): boolean {
    return this.known.has(id);
  }

  find(id: string): Preset | null {
    return this.known.get(id) ?? null;
  }

  private add(preset: unknown, name: string): void {
    if (!(preset instanceof ProviderPreset))
      throw new Error(`${name} is marked @InboundPreset() but does not extend ProviderPreset.`);
    const fault = faultOf(preset);
    if (fault !== null) throw new Error(`The preset ${name} is invalid: ${fault}`);
    if (this.known.has(preset.id)) throw new Error(`There is already a preset "${preset.id}": rename that of ${name}.`);
    this.known.set(preset.id, {
      id: preset.id,
      title: preset.title,
      verify: this.schemeOf(preset),
      secret: preset.secret,
      eventType: preset.eventType,
      dedupeId: preset.providerId,
      ...(preset.urlCheck.length > 0 && { urlCheck: preset.urlCheck }),
      response: preset.response,
      retry: { note: preset.retries },
      sample: preset.sample,
    });
  }

  private schemeOf(preset: ProviderPreset): Scheme {
    if (preset.verification !== null) return genericScheme(preset.verification, preset.verificationConfig);
    const secretHeaders = preset.secretHeaders.map((name) => name.toLowerCase());
    return { kind: 'code', verify: this.supervised(preset), secretHeaders };
  }

  private supervised(preset: ProviderPreset): Verifier {
    return async (request, secrets, nowMs) => {
      try {
        const verdict: unknown = await withDeadline(VERIFY_MS_MAX, () => preset.verify?.(request, secrets, nowMs));
        if (typeof verdict === 'boolean') return verdict;
        throw new Error('It returned no boolean.');
      } catch (error) {
        this.logger.error(
          `The verifier of the preset ${preset.id} failed: ${error instanceof Error ? error.stack : String(error)}`,
        );
        throw unavailable('The signature cannot be verified right now. Send it again.');
      }
    };
  }
}

/** Returns the error in a preset, or null. Also checks the types, because an extension may be written in JavaScript. */
function faultOf(preset: ProviderPreset): string | null {
  const { id, title, secret, retries, verification } = preset;
  if (typeof id !== 'string' || !ID.test(id)) return 'its id must be 1 to 64 lower-case letters, digits and "-".';
  if (RESERVED.includes(id)) return `the id ${id} is the name of a verification.`;
  const texts = { title, secret, retries };
  const text = Object.entries(texts).find(([, value]) => !isText(value));
  if (text !== undefined) return `${text[0]} must have 1 to ${TEXT_LENGTH_MAX} characters.`;
  if ((verification === null) === (preset.verify === undefined))
    return 'it needs either verification or a verify method.';
  return verification === null ? partFault(preset) : (descriptionFault(preset) ?? partFault(preset));
}

function descriptionFault({ verification, verificationConfig }: ProviderPreset): string | null {
  const name = GENERIC_SCHEMES.find((known) => known === verification);
  if (name === undefined) return `verification must be one of ${GENERIC_SCHEMES.join(', ')}.`;
  const [fault] = genericFaults(verificationConfig, 'verificationConfig', name);
  return fault === undefined ? null : `${fault.path}: ${fault.message}`;
}

function partFault({
  eventType,
  providerId,
  secretHeaders,
  urlCheck,
  response,
  sample,
}: ProviderPreset): string | null {
  if (!isRecipes(eventType) || eventType.length === 0) return 'eventType must be a list of recipes.';
  if (!isRecipes(providerId)) return 'providerId must be a list of recipes.';
  if (!Array.isArray(secretHeaders) || !secretHeaders.every(isText)) return 'secretHeaders must be a list of names.';
  if (!Array.isArray(urlCheck) || !urlCheck.every((method) => ['GET', 'HEAD'].includes(method as string)))
    return 'urlCheck must be a list of GET and HEAD.';
  const [fault] = response === null ? [] : responseFaults(response);
  if (fault !== undefined) return `${fault.path}: ${fault.message}`;
  const isSample =
    isObject(sample) &&
    typeof sample.body === 'string' &&
    isObject(sample.headers) &&
    Object.values(sample.headers).every((value) => typeof value === 'string');
  return isSample ? null : 'sample must have headers and a body.';
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && value.length <= TEXT_LENGTH_MAX;
}

/** Returns true for a list of recipes. A recipe is a list of parts, and each part has exactly one source. */
function isRecipes(value: unknown): boolean {
  const isPart = (part: unknown): boolean =>
    isObject(part) &&
    Object.entries(part).filter(([name, text]) => SOURCES.includes(name) && typeof text === 'string').length === 1;
  return (
    Array.isArray(value) &&
    value.every((recipe) => Array.isArray(recipe) && recipe.length > 0 && recipe.every((part) => isPart(part)))
  );
}
