import type { Schemas } from '../api/client';

type Settings = Schemas['TransformConfig'];

/** A transform in the format of the form. */
export interface TransformDraft {
  engine: 'none' | 'managed' | 'url';
  code: string;
  url: string;
  failMode: 'closed' | 'open';
  /** Timeout as text. Empty for the default. */
  timeoutMs: string;
}

/** Initial code of a new transform. */
export const FIRST_CODE = `export default (event, { secrets }) => {
  // null drops the event
  return { ...event, body: event.body };
};
`;

export function draftOf(settings: Settings | null): TransformDraft {
  const { engine = 'none', code = '', url = '', failMode = 'closed', timeoutMs } = settings ?? {};
  return { engine, code, url, failMode, timeoutMs: timeoutMs === undefined ? '' : String(timeoutMs) };
}

/** Returns the transform in the API's format, or null for no transform. */
export function settingsOf({ engine, code, url, failMode, timeoutMs }: TransformDraft): Settings | null {
  if (engine === 'none') return null;
  return {
    engine,
    failMode,
    ...(engine === 'managed' ? { code } : { url }),
    ...(timeoutMs !== '' && { timeoutMs: Number(timeoutMs) }),
  };
}
