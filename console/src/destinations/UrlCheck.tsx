import { type ReactNode, useEffect, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

/** Pause in typing after which the URL is checked. */
const CHECK_AFTER_MS = 600;

/** Checks the URL of a destination while the user types, and shows the result. */
export function UrlCheck({ type, url }: { type: string; url: string }): ReactNode {
  const check = useCheck(type, url);
  return (
    <p role="status" className="check">
      {check === 'asking'
        ? t('check.asking')
        : check === null
          ? ' '
          : check.ok
            ? `✓ ${t('check.good')}`
            : `✕ ${check.detail ?? t('check.bad')}`}
    </p>
  );
}

/** Returns the result of the URL check; null before the first check. */
function useCheck(type: string, url: string): Schemas['CheckResult'] | 'asking' | null {
  const { api } = useSigned();
  const [result, setResult] = useState<Schemas['CheckResult'] | 'asking' | null>(null);
  useEffect(() => {
    setResult(null);
    if (!/^https?:\/\/[^/]+/.test(url) || !URL.canParse(url)) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      setResult('asking');
      answered(api.POST('/v1/destinations/check', { body: { type, url }, signal: abort.signal })).then(
        setResult,
        (error: unknown) => {
          if (!abort.signal.aborted)
            setResult({ ok: false, detail: error instanceof Error ? error.message : String(error) });
        },
      );
    }, CHECK_AFTER_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, type, url]);
  return result;
}
