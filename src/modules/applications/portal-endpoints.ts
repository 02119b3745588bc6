import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { HIDDEN } from '#kernel/crypto/sensitive-headers.js';
import { type Fault, invalid } from '#kernel/errors.js';
import type { Caller } from '#kernel/tenant.js';
import { OwnedDestinations } from '#modules/destinations/owned-destinations.js';
import { FAN_OUT_MAX } from '#modules/ledger/accept.contract.js';
import type { ApplicationEndpointChangesAsked } from './application-endpoint-changes.js';
import type { NewApplicationEndpoint } from './application-endpoint-registration.js';
import type { ApplicationEndpoint } from './contract.js';

/** Fields that a customer may set. No field gives access to the organization's resources or delivery settings. */
export const NEW_IN_PORTAL = ['url', 'description', 'event_types', 'filter', 'headers'];
export const CHANGED_IN_PORTAL = [...NEW_IN_PORTAL, 'status'];

/** Start of a reference to a secret of the environment (`{{secrets.NAME}}`). */
const REFERENCE = '{{';

/** Restricts what portal sessions may change in endpoints. Callers with an API key have no such restrictions. */
@Injectable()
export class PortalEndpoints {
  constructor(
    private readonly destinations: OwnedDestinations,
    private readonly config: Config,
  ) {}

  placesMax({ portal }: Caller): number {
    return portal === undefined ? FAN_OUT_MAX : this.config.portalEndpointsMax;
  }

  /** Returns the fields of a new endpoint unchanged. Throws 422 if a portal session refers to a secret in a header. */
  creation({ portal }: Caller, asked: NewApplicationEndpoint): NewApplicationEndpoint {
    if (portal !== undefined) refuseReferences(asked.headers ?? {}, {});
    return asked;
  }

  /**
   * Returns the changes to make. Throws 422 for changes that a portal session may not make.
   *
   * A portal session reads `(hidden)` in place of authentication values. If it sends `(hidden)` back, the stored value
   * is kept.
   *
   * A portal session cannot add a reference to a secret. It can keep an existing reference while the host of the URL
   * stays the same.
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
            'sends a secret of your provider in a header, so it cannot change to another host: ask your provider, or remove the header',
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

/** Returns the host of a URL, or null for an invalid URL. The validation of the endpoint rejects invalid URLs. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}
