import type { KeyObject } from 'node:crypto';
import type { Id } from '#kernel/ids.js';

/** A domain that an environment may send mail from. */
export interface SendingDomain {
  id: Id;
  /** Lower case, in A-labels (RFC 5890). */
  domain: string;
  /** The host of the return path: `bounce.<domain>` once its records are seen, else the platform's own; null without a platform domain. */
  returnPathHost: string | null;
}

/** The key that signs now, platform-wide; its public half stands in the operator's zone (contract, section 10). */
export interface DkimKey {
  selector: string;
  /** RSA of 2048 bits. */
  privateKey: KeyObject;
}

/** What sending mail asks of the domains. */
export abstract class SendingDomains {
  /**
   * The verified domain that a From address with this host belongs to: the host itself, never its parent. Null when the
   * environment has none, or it does not send. Throws 503 while storage is away.
   */
  abstract find(environmentId: number, host: string): Promise<SendingDomain | null>;

  /** The key that signs now; it is made once and kept sealed. */
  abstract signingKey(): Promise<DkimKey>;
}

/** What receiving mail asks of the domains. */
export abstract class ReceivingDomains {
  /** The one verified domain of kind `email` with this host, over all environments; null when there is none. */
  abstract find(host: string): Promise<{ environmentId: number; domainId: Id } | null>;

  /** The domains of an environment that aliases can be made on, by id; null for one that does not receive. */
  abstract ofEnvironment(environmentId: number, domainId: Id): Promise<{ domain: string } | null>;
}

/** Who uses domains, so that one in use is neither deleted nor converted: aliases, endpoints. */
export abstract class DomainUsers {
  /** What uses the domain, as `details.used_by` names it; an empty list for one that is free. */
  abstract usersOf(environmentId: number, domainId: Id): Promise<string[]>;
}

/** A webhook domain as a host that endpoints live on. */
export interface CustomHost {
  environmentId: number;
  domainId: Id;
  /** Lower case, in A-labels. */
  host: string;
  /** Whether it takes requests now: it is verified, and nobody else's. */
  isServing: boolean;
}

/** Hosts of customers' own that endpoints receive on. */
export abstract class CustomHosts {
  /** Whether any host of the installation takes requests: while none does, nobody has to look. */
  abstract get isEmpty(): boolean;

  /** The host that takes requests under this name (lower case, without a port); null for every other. A change counts on every process within some five seconds. */
  abstract serving(host: string): CustomHost | null;

  /** Every webhook domain of an environment, verified or not. */
  abstract ofEnvironment(environmentId: number): Promise<CustomHost[]>;
}
