import { type IdPrefix, showId } from '#kernel/ids.js';
import type { SecretUser } from '#modules/secrets/contract.js';

const PREFIX: Readonly<Record<SecretUser['kind'], IdPrefix>> = { destination: 'dst', endpoint: 'ep' };

export function showUser({ kind, id }: SecretUser): SecretUser {
  return { kind, id: showId(PREFIX[kind], id) };
}
