import type { LookupAddress } from 'node:dns';

/** One address of a name; `family` is 4 or 6. */
export type Address = Readonly<LookupAddress>;
