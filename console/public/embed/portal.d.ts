/**
 * State of the frame: `loading` until it shows content, `renewing` while it waits for a new token, `failed` if it could
 * not get a token.
 */
export type PortalState = 'loading' | 'ready' | 'renewing' | 'failed';

/** Options of `mountPortal`. */
export interface PortalOptions {
  /**
   * Requests a portal for the signed-in customer from your own backend. Returns the response of `POST
   * /v1/app/{app}/portal`.
   */
  open: () => Promise<{ url: string; token: string }>;
  /** Accessible name of the frame, for screen readers. */
  title?: string;
  /** Minimum height of the frame, in pixels. */
  minHeight?: number;
  /** Text shown instead of the frame if the portal could not be opened. */
  failedText?: string;
  /** Label of the button that tries again. */
  retryText?: string;
  /** Called each time that the state of the frame changes. */
  onState?: (state: PortalState) => void;
  /** Called with the id of an endpoint that the customer created, changed or deleted. */
  onChange?: (endpoint: string) => void;
}

/** A mounted portal. */
export interface Portal {
  /** Removes the frame. */
  unmount(): void;
}

/** Shows the customer portal in a frame inside an element, adjusts the frame's height, and renews the portal token. */
export declare function mountPortal(element: Element, options: PortalOptions): Portal;
