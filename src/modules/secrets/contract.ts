import type { Id } from '#kernel/ids.js';

export interface SecretUser {
  kind: 'destination' | 'endpoint';
  id: Id;
}
