import type { LookupAddress } from 'node:dns';

export type Address = Readonly<LookupAddress>;
