import type { Access } from './client.js';

/** Fields for creating a destination of the type, as in `POST /v1/destinations`. */
export interface DestinationDraft {
  url?: string;
  config?: Record<string, unknown>;
  credentials?: Record<string, string>;
}

/** Settings that must be rejected, and the path of the expected fault, for example `config.servers`. */
export interface BrokenDraft {
  /** Short description of the fault, used as the name of the check. */
  name: string;
  draft: DestinationDraft;
  path: string;
}

export interface ReceivedMessage {
  /** Headers, with names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** A running service, returned by `startPosthorn` or by your own code. */
export interface PosthornUnderTest extends Access {
  stop(): Promise<void>;
  logs(): string;
}

/** A destination type, and a real target for it on this machine. No function is called before the first check runs. */
export interface DestinationUnderTest {
  type: string;
  /** Starts Posthorn with the extension on a new database. Allows deliveries to loopback unless `env` forbids them. */
  start(env?: Readonly<Record<string, string>>): Promise<PosthornUnderTest>;
  /** Returns a working destination at a loopback address. */
  draft(): DestinationDraft;
  brokenDrafts: readonly BrokenDraft[];
  /** Returns a valid destination with an address at which no server listens. */
  unreachableDraft(): DestinationDraft;
  /** Returns a destination whose credentials the target rejects. Omit this function for a type without credentials. */
  refusedDraft?(): DestinationDraft;
  /** Returns all messages that arrived so far, in order, including those before a restart. */
  received(): Promise<readonly ReceivedMessage[]> | readonly ReceivedMessage[];
  /** Makes the target refuse connections, and closes its existing connections. */
  stopTarget(): Promise<void>;
  /** Starts the target again at the same address. */
  startTarget(): Promise<void>;
  /** Makes the target accept connections without responding. Omit freeze and thaw if that is not possible. */
  freezeTarget?(): Promise<void>;
  thawTarget?(): Promise<void>;
  /** Returns the number of open connections to the service. Omit this function if the target cannot report it. */
  connections?(): Promise<number>;
}
