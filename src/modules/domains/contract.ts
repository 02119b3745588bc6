import type { KeyObject } from 'node:crypto';
import type { Id } from '#kernel/ids.js';

export interface SendingDomain {
  id: Id;
  /** Host name in lower case, in A-labels (RFC 5890). */
  domain: string;
  /** `bounce.<domain>` once its records are verified, otherwise the platform's host. Null if the platform has none. */
  returnPathHost: string | null;
  /** Version of the domain's own DKIM keys. Null if the platform's key signs. */
  keyVersion: number | null;
  /** Whether the domain is paused because of its bounces or complaints. */
  isPaused: boolean;
}

/** A DKIM key: the platform's key, whose record is in the operator's zone, or a key that belongs to a single domain. */
export interface DkimKey {
  selector: string;
  privateKey: KeyObject;
}

/** The RSA key of 2048 bits that signs a message, and optionally an Ed25519 key for a second signature (RFC 8463). */
export interface SigningKeys extends DkimKey {
  ed25519?: DkimKey;
}

/** Lists resources (aliases, endpoints) that use a domain. A used domain can be neither deleted nor converted. */
export abstract class DomainUsers {
  /** Returns the resources that use the domain, in the form of `details.used_by`. Empty if no resource uses it. */
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
  /** True if no custom host of the installation accepts requests, so that the lookup can be skipped. */
  abstract get isEmpty(): boolean;

  /** Returns the host with this name (lower case, no port) if it accepts requests. May be five seconds out of date. */
  abstract serving(host: string): CustomHost | null;

  /** Returns the environment's hosts, verified or not. */
  abstract ofEnvironment(environmentId: number): Promise<CustomHost[]>;
}
