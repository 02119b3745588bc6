/** An answer of the API that is no success, or no answer at all (`status` 0). */
export class Fault extends Error {
  override readonly name = 'Fault';

  constructor(
    readonly status: number,
    /** The type of the envelope, or `unreachable`. */
    readonly type: string,
    message: string,
    readonly requestId: string | null,
    readonly details: Readonly<Record<string, unknown>>,
    /** How long to wait before the next try; null when nobody says. */
    readonly retryAfterSeconds: number | null,
  ) {
    super(message);
  }

  /** What is wrong with each field of a form. */
  get fields(): readonly { path: string; message: string }[] {
    const { fields } = this.details;
    return Array.isArray(fields) ? (fields as { path: string; message: string }[]) : [];
  }
}

/** The fault that an answer tells of, whoever gave it: a proxy in between has no envelope. */
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
