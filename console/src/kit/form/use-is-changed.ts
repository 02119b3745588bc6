import { useState } from 'react';

/** Returns whether the values of a form differ from its first values. Without a change, there is nothing to save. */
export function useIsChanged(values: unknown): boolean {
  const text = JSON.stringify(values);
  const [before] = useState(text);
  return text !== before;
}
