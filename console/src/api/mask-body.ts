/** Matches names of fields with values that the console must not keep, such as `signing_secret` or `credentials`. */
const SECRET = /secret|token|password|credential|authorization|(^|_)key$|^value$|^headers$/i;
const BODY_CHARACTERS_MAX = 20_000;
const MASK = '***';

/** Replaces secret values in a JSON body. Returns null for a body that is too long or is not JSON. */
export function masked(text: string): string | null {
  if (text === '' || text.length > BODY_CHARACTERS_MAX) return null;
  try {
    return JSON.stringify(withoutSecrets(JSON.parse(text)));
  } catch {
    return null;
  }
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, SECRET.test(name) ? mask(each) : withoutSecrets(each)]),
  );
}

/** Replaces each text inside of a value, and keeps its structure. */
function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mask(each)]));
  return typeof value === 'string' || typeof value === 'number' ? MASK : value;
}
