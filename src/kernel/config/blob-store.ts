import type { AwsCredentials } from './aws-credentials.js';
import { ConfigError, type ExtensionChoice, parseExtensionChoice } from './config-values.js';

export type BlobPlace = { kind: 'postgres' } | { kind: 'file'; directory: string } | BlobBucket | ExtensionChoice;

export interface BlobBucket {
  kind: 's3';
  bucket: string;
  /** Prefix of all object keys in the bucket: empty, or ending with a slash. */
  prefix: string;
  region: string;
  /** URL of an S3-compatible server, without the bucket. Requests name the bucket in their path. Null for Amazon S3. */
  endpoint: string | null;
  credentials: AwsCredentials;
}

const EXPECTED =
  '`postgres`, `file:` and the absolute path of a directory, `s3://bucket/prefix?region=eu-west-1`, or `extension:NAME`';
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/;
export const REGION = /^[a-z0-9-]{2,40}$/;

/** Parses the variable BLOB_STORE. Throws `ConfigError` if its value is invalid. */
export function parseBlobStore(text: string | null, credentials: AwsCredentials | null): BlobPlace {
  if (text === null || text === 'postgres') return { kind: 'postgres' };
  if (/^file:\/[^/]/.test(text)) return { kind: 'file', directory: text.slice('file:'.length) };
  const extension = parseExtensionChoice(text);
  if (extension !== null) return extension;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 's3:')
    throw new ConfigError(
      `BLOB_STORE must be ${EXPECTED}${text.includes('@') ? '' : `, not ${JSON.stringify(text)}`}.`,
    );
  if (url.username !== '' || url.password !== '')
    throw new ConfigError(
      'BLOB_STORE must not contain credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead.',
    );
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'region' && name !== 'endpoint');
  if (unknown !== undefined || url.hash !== '')
    throw new ConfigError('BLOB_STORE accepts only the parameters region and endpoint after s3://bucket/prefix.');
  const [bucket, region, endpoint] = [
    url.hostname,
    url.searchParams.get('region') ?? '',
    url.searchParams.get('endpoint'),
  ];
  const prefix = url.pathname.replace(/^\/+/, '').replace(/([^/])$/, '$1/');
  if (!BUCKET.test(bucket) || !PREFIX.test(prefix))
    throw new ConfigError(
      `BLOB_STORE must be ${EXPECTED}: the bucket in lower case, the prefix of letters, digits and ". _ - /".`,
    );
  if (!REGION.test(region))
    throw new ConfigError('BLOB_STORE needs the region of its bucket: s3://bucket?region=eu-west-1.');
  if (endpoint !== null && !isHttpUrl(endpoint))
    throw new ConfigError('The endpoint of BLOB_STORE must be an http or https URL without path and credentials.');
  if (credentials === null) throw new ConfigError('BLOB_STORE=s3: needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  return { kind: 's3', bucket, prefix, region, endpoint, credentials };
}

/** Returns whether a text is an http or https URL of a server, without a path or credentials. */
export function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === ''
  );
}
