/** How long a transform may take unless the endpoint says otherwise, in milliseconds. */
export const TRANSFORM_TIMEOUT_MS = { managed: 250, url: 3_000 } as const;
/** The same for what is asked for a synchronous answer. */
export const PROXY_TIMEOUT_MS = { managed: 250, url: 3_000 } as const;
