import type { KeyObject } from 'node:crypto';
import type { Id } from '#kernel/ids.js';

export interface SendingDomain {
  id: Id;
  /** Host name in lower case, in A-labels (RFC 5890). */
  domain: string;
  /** `bounce.<domain>` once its records are verified, otherwise the platform's host. Null without a platform domain. */
  returnPathHost: string | null;
}

/** DKIM key shared by the whole platform. The operator's zone publishes its public key (contract, section 10). */
export interface DkimKey {
  selector: string;
  /** RSA key of 2048 bits. */
  privateKey: KeyObject;
}

/** Lists the users of domains (aliases, endpoints), so that a domain in use is neither deleted nor converted. */
export abstract class DomainUsers {
  /** Returns users in the form of `details.used_by`. Empty if the domain is not in use. */
  abstract usersOf(environmentId: number, domainId: Id): Promise<string[]>;
}

export interface CustomHost {
  environmentId: number;
  domainId: Id;
  /** Host name in lower case, in A-labels. */
  host: string;
  /** Whether the host accepts requests now: it is verified, and no other environment holds it. */
  isServing: boolean;
}

export abstract class CustomHosts {
  /** True if no host of the installation accepts requests, so that the lookup can be skipped. */
  abstract get isEmpty(): boolean;

  /** `host` is in lower case, without a port. A change takes effect in every process within about five seconds. */
  abstract serving(host: string): CustomHost | null;

  /** Returns the environment's hosts, verified or not. */
  abstract ofEnvironment(environmentId: number): Promise<CustomHost[]>;
}
