import { sealedIn, type Vault } from './vault.js';

/** The request that the query belongs to. An encrypted value can only be decrypted for the same request. */
interface Of {
  environmentId: number;
  id: string;
}

/**
 * In a stored query, a space precedes an encrypted value. A request target cannot contain spaces (RFC 9112, section
 * 3.2).
 */
const SEALED = / ([A-Za-z0-9_-]+)/g;

/** Returns the text that replaces the value of a query parameter in storage. */
export function sealParameter(vault: Pick<Vault, 'seal'>, of: Of, value: string): string {
  return ` ${vault.seal(value, contextOf(of)).toString('base64url')}`;
}

/** Returns the query with all encrypted values decrypted. Throws if a value cannot be decrypted. */
export function openParameters(vault: Pick<Vault, 'open'>, of: Of, query: string): string {
  return query.replace(SEALED, (_, sealed: string) =>
    vault.open(Buffer.from(sealed, 'base64url'), contextOf(of)).toString(),
  );
}

/** Returns the URL with all encrypted values of its query decrypted. Throws if a value cannot be decrypted. */
export function openUrl(vault: Pick<Vault, 'open'>, of: Of, url: string): string {
  const start = url.indexOf('?') + 1;
  return start === 0 ? url : url.slice(0, start) + openParameters(vault, of, url.slice(start));
}

const contextOf = ({ environmentId, id }: Of): string =>
  sealedIn({ table: 'requests', environmentId, id, column: 'query' });
