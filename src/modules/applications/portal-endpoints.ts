import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { HIDDEN } from '#kernel/crypto/sensitive-headers.js';
import { type Fault, invalid } from '#kernel/errors.js';
import type { Caller } from '#kernel/tenant.js';
import { OwnedDestinations } from '#modules/destinations/contract.js';
import { FAN_OUT_MAX } from '#modules/ledger/accept.contract.js';
import type { ApplicationEndpointChangesAsked } from './application-endpoint-changes.js';
import type { NewApplicationEndpoint } from './application-endpoint-registration.js';
import type { ApplicationEndpoint } from './contract.js';

/** What a customer may give of an endpoint in his portal: nothing of where his provider's own things are, nor of how hard it tries. */
export const NEW_IN_PORTAL = ['url', 'description', 'event_types', 'filter', 'headers'];
export const CHANGED_IN_PORTAL = [...NEW_IN_PORTAL, 'status'];

/** Begins a reference to a secret of the environment (`{{secrets.NAME}}`). */
const REFERENCE = '{{';

/** What customers may not do with endpoints where those who have a key may. */
@Injectable()
export class PortalEndpoints {
  constructor(
    private readonly destinations: OwnedDestinations,
    private readonly config: Config,
  ) {}

  /** How many endpoints an application may have with the one that the caller adds. */
  placesMax({ portal }: Caller): number {
    return portal === undefined ? FAN_OUT_MAX : this.config.portalEndpointsMax;
  }

  /** What may be asked for of a new endpoint. Throws 422 for a customer who refers to a secret of his provider. */
  creation({ portal }: Caller, asked: NewApplicationEndpoint): NewApplicationEndpoint {
    if (portal !== undefined) refuseReferences(asked.headers ?? {}, {});
    return asked;
  }

  /**
   * What a change comes to. A customer was shown `(hidden)` for values that let somebody in: where he sends that back, the value stays. What refers to a
   * secret of his provider may stay as it is, at the same host, and come from nowhere. Throws 422.
   */
  async change(
    { portal, tenant }: Caller,
    { id }: ApplicationEndpoint,
    asked: ApplicationEndpointChangesAsked,
  ): Promise<ApplicationEndpointChangesAsked> {
    if (portal === undefined || (asked.headers == null && asked.url == null)) return asked;
    const [stored] = await this.destinations.find(tenant.environmentId, [id]);
    const before = stored?.settings.headers ?? {};
    const headers = asked.headers == null ? asked.headers : kept(asked.headers, before);
    refuseReferences(headers ?? {}, before);
    const isMoved = asked.url != null && stored?.url != null && hostOf(asked.url) !== hostOf(stored.url);
    if (
      isMoved &&
      Object.values(asked.headers === undefined ? before : (headers ?? {})).some((value) => value.includes(REFERENCE))
    ) {
      throw invalid([
        {
          path: 'url',
          message:
            "is sent a secret of your provider in a header, and can't go to another host: ask your provider, or take the header away",
        },
      ]);
    }
    return headers === undefined ? asked : { ...asked, headers };
  }
}

function kept(
  headers: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
): Record<string, string> {
  const known = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value === HIDDEN ? (known.get(name.toLowerCase()) ?? value) : value,
    ]),
  );
}

function refuseReferences(headers: Readonly<Record<string, string>>, before: Readonly<Record<string, string>>): void {
  const known = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]));
  const faults: Fault[] = Object.entries(headers)
    .filter(([name, value]) => value.includes(REFERENCE) && known.get(name.toLowerCase()) !== value)
    .map(([name]) => ({ path: `headers.${name}`, message: 'cannot refer to a secret here' }));
  if (faults.length > 0) throw invalid(faults);
}

/** Null for what is no URL, which is refused for that. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}
