import { type JsonFault, readObject, writeJson } from '../kit/json/read-json';
import { bytesOfSize, sizeOf, type SizeUnit } from './body-limit';
import type { EndpointChanges, EndpointDetail } from './endpoint-queries';

/** Settings of an endpoint in the format of the form. */
export interface SettingsDraft {
  name: string;
  url: string;
  /** The stored URL. `url` is sent to the API only if it differs. */
  urlBefore: string;
  /** Id of the provider, or empty for no provider. */
  preset: string;
  verification: string;
  /** Verification settings as JSON text. Empty for the defaults. */
  verificationConfig: string;
  /** Accepted HTTP methods. An empty list means all methods. */
  methods: string[];
  duplicates: '' | 'provider_id' | 'header' | 'body_path';
  /** Name of the header, or path in the body, that contains the id by which duplicates are detected. */
  duplicatesBy: string;
  duplicatesHours: string;
  /** Limit of the body in `limitUnit`, as typed. Empty for the default. */
  limit: string;
  limitUnit: SizeUnit;
  /** The stored limit. The limit is sent to the API only if it has changed. */
  limitBytesBefore: number;
}

export const VERIFICATIONS = [
  'none',
  'preset',
  'hmac-sha256',
  'hmac-sha1',
  'hmac-sha512',
  'rsa-sha256',
  'ed25519',
  'jwt',
  'jwt-hs256',
  'jwt-hs384',
  'jwt-hs512',
  'bearer',
  'basic',
  'api-key',
] as const;
/** Names of the schemes. They are not translated. */
export const SCHEME_NAMES: Readonly<Record<string, string>> = {
  'hmac-sha256': 'HMAC-SHA256',
  'hmac-sha1': 'HMAC-SHA1',
  'hmac-sha512': 'HMAC-SHA512',
  'rsa-sha256': 'RSA-SHA256',
  ed25519: 'Ed25519',
  jwt: 'JWT (JWKS)',
  'jwt-hs256': 'JWT HS256',
  'jwt-hs384': 'JWT HS384',
  'jwt-hs512': 'JWT HS512',
  bearer: 'Bearer token',
  basic: 'HTTP Basic',
  'api-key': 'API key',
};
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export function settingsDraftOf(of: EndpointDetail): SettingsDraft {
  const { amount, unit } = sizeOf(of.max_body_bytes);
  return {
    limit: amount,
    limitUnit: unit,
    limitBytesBefore: of.max_body_bytes,
    name: of.name,
    url: of.url,
    urlBefore: of.url,
    preset: of.preset ?? '',
    verification: of.verification,
    verificationConfig: writeJson(of.verificationConfig),
    methods: [...(of.allowed_methods ?? [])],
    duplicates: of.deduplicate?.source ?? '',
    duplicatesBy: of.deduplicate?.name ?? of.deduplicate?.path ?? '',
    duplicatesHours: of.deduplicate?.window_hours === undefined ? '' : String(of.deduplicate.window_hours),
  };
}

/** Returns the settings in the API's format, or the error in them. */
export function changesOf(
  draft: SettingsDraft,
  complaint: string,
): { changes: EndpointChanges; fault: JsonFault | null } {
  const isGeneric = draft.verification !== 'none' && draft.verification !== 'preset';
  const { value, fault } = isGeneric ? readObject(draft.verificationConfig, complaint) : { value: null, fault: null };
  const { duplicates, duplicatesBy, duplicatesHours } = draft;
  const limitBytes = bytesOfSize(draft.limit, draft.limitUnit);
  const changes = {
    name: draft.name,
    preset: draft.preset === '' ? null : draft.preset,
    verification: draft.verification,
    ...(isGeneric && { verificationConfig: value }),
    ...(draft.url !== draft.urlBefore && { url: draft.url }),
    ...(limitBytes !== draft.limitBytesBefore && { max_body_bytes: limitBytes }),
    allowed_methods: draft.methods.length === 0 ? null : draft.methods,
    deduplicate:
      duplicates === ''
        ? null
        : {
            source: duplicates,
            ...(duplicates === 'header' && { name: duplicatesBy }),
            ...(duplicates === 'body_path' && { path: duplicatesBy }),
            ...(duplicatesHours !== '' && { window_hours: Number(duplicatesHours) }),
          },
  };
  return { changes: changes as EndpointChanges, fault };
}

/** Returns the endpoint's URL on another host: the prefix of that host, and the last segments of the current URL. */
export function urlOnHost(url: string, before: string | undefined, prefix: string): string {
  const rest =
    before !== undefined && url.startsWith(before) ? url.slice(before.length) : (url.split('/').at(-1) ?? '');
  return prefix + rest;
}
