/** Ends what the setup started. */
export default function globalTeardown(): Promise<void>;
