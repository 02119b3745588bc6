import type { KeyObject } from 'node:crypto';
import type { Id } from '#kernel/ids.js';

/** A domain that an environment may send mail from. */
export interface SendingDomain {
  id: Id;
  /** Lower case, in A-labels (RFC 5890). */
  domain: string;
  /**
   * Host of the return path: `bounce.<domain>` once its records are verified, otherwise the platform's own host. Null
   * without a platform domain.
   */
  returnPathHost: string | null;
}

/**
 * The current DKIM signing key, shared by the whole platform. The operator's zone publishes its public half (contract,
 * section 10).
 */
export interface DkimKey {
  selector: string;
  /** RSA, 2048 bits. */
  privateKey: KeyObject;
}

/** Domain queries of the sending side. */
export abstract class SendingDomains {
  /**
   * Returns the environment's verified domain with exactly this host, never a parent domain. Returns null if there is
   * none, or if it may not send. Throws 503 while storage is unavailable.
   */
  abstract find(environmentId: number, host: string): Promise<SendingDomain | null>;

  /** Returns the current signing key. The first call creates it. It is stored encrypted. */
  abstract signingKey(): Promise<DkimKey>;
}

/** Domain queries of the receiving side. */
export abstract class ReceivingDomains {
  /** Returns the verified domain of kind `email` with this host, across all environments, or null if there is none. */
  abstract find(host: string): Promise<{ environmentId: number; domainId: Id } | null>;

  /**
   * Returns the environment's domain with this id if aliases can be created on it. Returns null if it does not receive
   * mail.
   */
  abstract ofEnvironment(environmentId: number, domainId: Id): Promise<{ domain: string } | null>;
}

/** Lists the users of domains (aliases, endpoints), so that a domain in use is neither deleted nor converted. */
export abstract class DomainUsers {
  /** Returns the users of the domain in the form of `details.used_by`. Empty if the domain is not in use. */
  abstract usersOf(environmentId: number, domainId: Id): Promise<string[]>;
}

/** A webhook domain that can serve endpoints. */
export interface CustomHost {
  environmentId: number;
  domainId: Id;
  /** Lower case, in A-labels. */
  host: string;
  /** Whether the host accepts requests now: it is verified, and no other environment holds it. */
  isServing: boolean;
}

/** Customers' own hosts, on which endpoints receive requests. */
export abstract class CustomHosts {
  /** True if no host of the installation accepts requests, so that the lookup can be skipped. */
  abstract get isEmpty(): boolean;

  /**
   * Returns the host that accepts requests under this name (lower case, without a port), or null if there is none. A
   * change takes effect in every process within about five seconds.
   */
  abstract serving(host: string): CustomHost | null;

  /** Returns every webhook domain of an environment, verified or not. */
  abstract ofEnvironment(environmentId: number): Promise<CustomHost[]>;
}
