/** How the frame is: `loading` until it shows something, `renewing` while another token is asked for, `failed` when none came. */
export type PortalState = 'loading' | 'ready' | 'renewing' | 'failed';

/** What a portal is mounted with. */
export interface PortalOptions {
  /** Asks your own backend for a portal of the customer who is signed in: the answer of `POST /v1/app/{app}/portal`. */
  open: () => Promise<{ url: string; token: string }>;
  /** What screen readers call the frame. */
  title?: string;
  /** The least height of the frame, in pixels. */
  minHeight?: number;
  /** What stands in the place of the frame when it could not be opened. */
  failedText?: string;
  /** What its button says. */
  retryText?: string;
  /** Told of every change of how the frame is. */
  onState?: (state: PortalState) => void;
  /** Told the id of an endpoint that the customer made, changed or deleted. */
  onChange?: (endpoint: string) => void;
}

/** A portal that is shown. */
export interface Portal {
  /** Takes the frame away. */
  unmount(): void;
}

/** Shows the customers' portal in a frame inside an element, sizes it, and renews its token. */
export declare function mountPortal(element: Element, options: PortalOptions): Portal;
