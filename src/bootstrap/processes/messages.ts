import type { ListeningAddress } from './listening.js';

export interface Beginning {
  readonly count: number;
  readonly databaseUrl: string;
  /**
   * Hexadecimal master key. Sent over this channel, because other programs of the same user can read the environment.
   */
  readonly masterKey: string;
  /** Ports that the parent's servers listen on. Deliveries to these ports are blocked. */
  readonly ownPorts: readonly number[];
}

export type ParentMessage =
  /** `number`: position of the process among PROCESSES, starting at 1. */
  | ({ readonly kind: 'begin'; readonly number: number } & Beginning)
  | { readonly kind: 'collect'; readonly scrape: number }
  | { readonly kind: 'scraped'; readonly scrape: number; readonly text: string };

export type MemberMessage =
  /** Reports that the process now receives messages. Messages sent to it before are lost. */
  | { readonly kind: 'joined' }
  | { readonly kind: 'up'; readonly addresses: readonly ListeningAddress[] }
  /** The process did not start. `line` is the reason, without secrets. */
  | { readonly kind: 'failed'; readonly line: string }
  | { readonly kind: 'scrape'; readonly scrape: number }
  | { readonly kind: 'collected'; readonly scrape: number; readonly text: string };
