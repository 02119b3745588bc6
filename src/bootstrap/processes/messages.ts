import type { ListeningAddress } from './listening.js';

/** What a process needs to begin: what its parent found out or started. */
export interface Beginning {
  /** How many processes there are. */
  readonly count: number;
  readonly databaseUrl: string;
  /** In hex. Over the channel and not in the environment, which other programs of this user can read. */
  readonly masterKey: string;
  /** Ports that servers of the parent listen on: nothing is delivered to them. */
  readonly ownPorts: readonly number[];
}

/** From the parent to one of its processes. */
export type Errand =
  /** `number`: which of PROCESSES it is, from 1. */
  | ({ readonly kind: 'begin'; readonly number: number } & Beginning)
  /** Tell your metrics. */
  | { readonly kind: 'tell'; readonly scrape: number }
  /** The metrics of all, as they were asked for. */
  | { readonly kind: 'scraped'; readonly scrape: number; readonly text: string };

/** From one of the processes to their parent. */
export type Word =
  /** It listens: what is sent before is lost. */
  | { readonly kind: 'joined' }
  | { readonly kind: 'up'; readonly addresses: readonly ListeningAddress[] }
  /** It did not start; `line` says why, without secrets. */
  | { readonly kind: 'failed'; readonly line: string }
  | { readonly kind: 'scrape'; readonly scrape: number }
  | { readonly kind: 'told'; readonly scrape: number; readonly text: string };
