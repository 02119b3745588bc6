/**
 * What `make` comes to, made when it is asked for the first time, and then kept. What fails is not kept: whoever asks next has it
 * made again, where one failure would be everybody's for as long as the process lives.
 */
export function memoizeAsync<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    }));
}
