import type { KeyObject } from 'node:crypto';
import type { Id } from '#kernel/ids.js';

export interface SendingDomain {
  id: Id;
  /** Host name in lower case, in A-labels (RFC 5890). */
  domain: string;
  /**
   * Host to which bounces are sent: `bounce.<domain>` once its records are verified, otherwise the platform's host.
   * Null if the platform has no such host.
   */
  returnPathHost: string | null;
  /** Version of the domain's own DKIM keys. Null if the platform's key signs. */
  keyVersion: number | null;
  /** Whether the domain is paused because of its bounces or complaints. */
  isPaused: boolean;
}

/** A DKIM key: the platform's key or a domain's own key. The record of the platform's key is in the operator's zone. */
export interface DkimKey {
  selector: string;
  privateKey: KeyObject;
}

/** The 2048-bit RSA key that signs messages. With `ed25519`, each message gets a second signature (RFC 8463). */
export interface SigningKeys extends DkimKey {
  ed25519?: DkimKey;
}

/** Lists resources (aliases, endpoints) that use a domain. A used domain can be neither deleted nor converted. */
export abstract class DomainUsers {
  /**
   * Returns the resources that use the domain, as an error lists them in `details.used_by`. Empty if it is not used.
   */
  abstract usersOf(environmentId: number, domainId: Id): Promise<string[]>;
}

export interface CustomHost {
  environmentId: number;
  domainId: Id;
  /** Host name in lower case, in A-labels. */
  host: string;
  /** Whether requests to the host are accepted: the host is verified, and no other environment owns it. */
  isServing: boolean;
}

export abstract class CustomHosts {
  /** True if no custom host of the installation accepts requests. Callers then skip the lookup. */
  abstract get isEmpty(): boolean;

  /**
   * Returns the host with this name (lower case, no port) if it accepts requests. The data is at most five seconds old.
   */
  abstract serving(host: string): CustomHost | null;

  /** Returns the environment's hosts, verified or not. */
  abstract ofEnvironment(environmentId: number): Promise<CustomHost[]>;
}
