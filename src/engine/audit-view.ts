export const MASKED = '[secret]';

type Fields = Readonly<Record<string, unknown>>;

/** Names of fields that hold credentials, at any depth. */
const SECRET_NAME =
  /^(?:key|authorization|cookie|set-cookie|passw(?:or)?d)$|(?:^|[_-])(?:secret|token|password|credential|key)s?$/i;
/** Names of credential fields in camel case, such as `verificationToken`. */
const SECRET_CAMEL_NAME = /[a-z](?:Secret|Token|Password|ApiKey|AccessKey|PrivateKey)$/;
/** Names of fields that hold request headers. Users choose the header names, so any header may carry a secret. */
const HEADERS_NAME = /(?:^|_)headers$|[a-z]Headers$/;
const DEPTH_MAX = 12;
const BYTES_MAX = 16_384;

/**
 * Returns a resource for the audit log: masks secrets, and passwords in URLs. If the resource is too large, returns
 * only its id and name, and `truncated: true`.
 */
export function auditView(resource: Fields): Fields {
  const masked = maskedValue(resource, 0) as Fields;
  return JSON.stringify(masked).length <= BYTES_MAX ? masked : { ...identityOf(masked), truncated: true };
}

export function auditDiff(before: Fields, after: Fields): { before: Fields; after: Fields } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const pick = (fields: Fields): Fields =>
    Object.fromEntries(changed.filter((name) => name in fields).map((name) => [name, fields[name]]));
  return { before: pick(before), after: pick(after) };
}

function maskedValue(value: unknown, depth: number): unknown {
  if (depth > DEPTH_MAX) return null;
  if (typeof value === 'string') return withoutSecrets(value);
  if (Array.isArray(value)) return value.map((each) => maskedValue(each, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as Fields).map(([name, each]) => {
      if (isSecret(name, each)) return [name, MASKED];
      return [
        name,
        HEADERS_NAME.test(name) && typeof each === 'object' && each !== null
          ? namesOf(each)
          : maskedValue(each, depth + 1),
      ];
    }),
  );
}

function namesOf(headers: object): unknown {
  return Array.isArray(headers)
    ? headers.map(() => MASKED)
    : Object.fromEntries(Object.keys(headers).map((name) => [withoutSecrets(name), MASKED]));
}

/**
 * Returns whether to mask a value. Booleans and null are not masked: `has_secret: true` reveals only that a secret
 * exists.
 */
function isSecret(name: string, value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'boolean' || /^has_/.test(name)) return false;
  return (
    (SECRET_NAME.test(name) || SECRET_CAMEL_NAME.test(name)) &&
    !/^(?:ek|mbr|sec)_[0-9A-HJKMNP-TV-Z]{26}$/.test(typeof value === 'string' ? value : '')
  );
}

/** Posthorn API keys, tokens and signing secrets. Their format identifies them as secrets in any field. */
const OWN_SECRET = /\bek_(?:live|test)_[0-9A-Za-z]{20,}|\bpt_[0-9A-Za-z_-]{43}|\bwhsec_[0-9A-Za-z+/=_-]{16,}/g;

function withoutSecrets(text: string): string {
  return text.replaceAll(OWN_SECRET, MASKED).replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@]*:[^\s/@]*@/gi, `$1${MASKED}@`);
}

function identityOf({ id, name }: Fields): Fields {
  return { ...(id !== undefined && { id }), ...(name !== undefined && { name }) };
}
