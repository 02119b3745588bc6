/** Starts the PostgreSQL of a test run, and the reaper that cleans up after it. */
export default function globalSetup(): Promise<void>;
