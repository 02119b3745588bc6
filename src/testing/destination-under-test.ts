import type { Access } from './client.js';

/** What makes a destination of its type, as in `POST /v1/destinations`. */
export interface DestinationDraft {
  url?: string;
  config?: Record<string, unknown>;
  credentials?: Record<string, string>;
}

/** Settings that must be refused, and where the fault is: `config.servers`. */
export interface BrokenDraft {
  /** What is wrong with it, in a few words: the name of the check. */
  name: string;
  draft: DestinationDraft;
  path: string;
}

/** A message as it came to the target. */
export interface ReceivedMessage {
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** A running service: what `startPosthorn` returns, or whatever else runs it. */
export interface PosthornUnderTest extends Access {
  stop(): Promise<void>;
  logs(): string;
}

/** A destination type, and a real target of it on this machine. Nothing is called before the first check runs. */
export interface DestinationUnderTest {
  type: string;
  /** Starts a service with the extension on a new database; `env` adds to its environment. Loopback is open unless it says otherwise. */
  start(env?: Readonly<Record<string, string>>): Promise<PosthornUnderTest>;
  /** A destination that works, at an address of loopback. */
  draft(): DestinationDraft;
  brokenDrafts: readonly BrokenDraft[];
  /** In order, but nobody answers there. */
  unreachableDraft(): DestinationDraft;
  /** The target refuses its credentials; leave it out for a type without any. */
  refusedDraft?(): DestinationDraft;
  /** Every message that came so far, in their order; those of before a restart too. */
  received(): Promise<readonly ReceivedMessage[]> | readonly ReceivedMessage[];
  /** Makes the target refuse connections, and end those that it has. */
  stopTarget(): Promise<void>;
  /** Brings it back at the same address. */
  startTarget(): Promise<void>;
  /** Makes it take connections and answer nothing; leave both out when that cannot be had. */
  freezeTarget?(): Promise<void>;
  thawTarget?(): Promise<void>;
  /** Connections that the target has open to the service; leave it out when it cannot be told. */
  connections?(): Promise<number>;
}
