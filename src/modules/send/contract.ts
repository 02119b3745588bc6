/** The body of `POST /v1/send`. */
export interface Webhook {
  /** The target: a destination's id, or an HTTPS URL. */
  destination: string;
  event_type: string;
  /** The body of the webhook, up to 1 MB as JSON. */
  payload: Record<string, unknown>;
  /** Headers to forward with the deliveries. */
  headers?: Record<string, string>;
}

export interface AcceptedWebhook {
  /** `msg_…`, which is also the delivery's `webhook-id`. */
  message_id: string;
}

/** The body of `POST /v1/app/{app}/event`. */
export interface ApplicationEvent {
  event_type: string;
  payload: Record<string, unknown>;
  channels?: string[];
  headers?: Record<string, string>;
}

export interface AcceptedEvent extends AcceptedWebhook {
  /** Number of endpoints that receive the event. */
  fanout: number;
}

export interface SendOptions {
  /**
   * Any text of 1 to 255 characters, such as an order number. A repeated call with the same key and content returns the
   * first response, and sends nothing. A call with the same key and other content throws 409. A key passed by code
   * never conflicts with the same key in an HTTP request.
   */
  idempotencyKey?: string;
  /** W3C trace context to continue. */
  traceparent?: string;
}
