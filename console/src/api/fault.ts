/** An error response of the API, or a request without a response (`status` 0). */
export class Fault extends Error {
  override readonly name = 'Fault';

  constructor(
    readonly status: number,
    /** Type in the error response, or `unreachable` without a response. */
    readonly type: string,
    message: string,
    readonly requestId: string | null,
    readonly details: Readonly<Record<string, unknown>>,
    /** Wait that the service requested before the call is repeated, or null if unknown. */
    readonly retryAfterSeconds: number | null,
  ) {
    super(message);
  }

  /** Returns the errors of individual request fields, each with the field's path. */
  get fields(): readonly { path: string; message: string }[] {
    const { fields } = this.details;
    return Array.isArray(fields) ? (fields as { path: string; message: string }[]) : [];
  }
}

/** Returns the fault for an error response. The response of a proxy may have another format. */
export function faultOf(response: Response, body: unknown): Fault {
  const said = (
    body as
      | { error?: { type?: string; message?: string; request_id?: string; details?: Record<string, unknown> } }
      | null
      | undefined
  )?.error;
  const wait = Number(response.headers.get('retry-after') ?? NaN);
  return new Fault(
    response.status,
    said?.type ?? 'internal',
    said?.message ?? `HTTP ${response.status}`,
    said?.request_id ?? response.headers.get('x-request-id'),
    said?.details ?? {},
    Number.isFinite(wait) ? wait : null,
  );
}
