/** Thrown if a name has no address or no server responded in time. `reason` is a code such as ENOTFOUND. */
export class LookupFailed extends Error {
  readonly code = 'EGRESS_LOOKUP_FAILED';
  constructor(readonly reason: string) {
    super(`The host name could not be resolved${REASONS[reason] ?? ''} (${reason}).`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: ': there is no such name',
  ENODATA: ': the name has no address',
  ESERVFAIL: ': its name servers failed',
  ETIMEOUT: ': its name servers did not answer in time',
  EBUSY: ': too many other lookups are waiting',
};
