/** Stops the processes that the setup started. */
export default function globalTeardown(): Promise<void>;
