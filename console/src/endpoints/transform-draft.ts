import type { Schemas } from '../api/client';

type Settings = Schemas['TransformConfig'];

/** A transform as its form has it. */
export interface TransformDraft {
  engine: 'none' | 'managed' | 'url';
  code: string;
  url: string;
  failMode: 'closed' | 'open';
  /** Digits; empty for the default. */
  timeoutMs: string;
}

/** What a first transform begins with. */
export const FIRST_CODE = `export default (event, { secrets }) => {
  // null drops the event
  return { ...event, body: event.body };
};
`;

export function draftOf(settings: Settings | null): TransformDraft {
  const { engine = 'none', code = '', url = '', failMode = 'closed', timeoutMs } = settings ?? {};
  return { engine, code, url, failMode, timeoutMs: timeoutMs === undefined ? '' : String(timeoutMs) };
}

/** As the API takes it; null for none. */
export function settingsOf({ engine, code, url, failMode, timeoutMs }: TransformDraft): Settings | null {
  if (engine === 'none') return null;
  return {
    engine,
    failMode,
    ...(engine === 'managed' ? { code } : { url }),
    ...(timeoutMs !== '' && { timeoutMs: Number(timeoutMs) }),
  };
}
