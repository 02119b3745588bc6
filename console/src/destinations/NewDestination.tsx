import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

const TYPES = ['https', 'mirror', 'pull'] as const;
/** Wait after the last keystroke before the URL is checked. */
const CHECK_AFTER_MS = 600;

/** Form for a new destination. Checks the URL while the user types. */
export function NewDestination({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [type, setType] = useState<(typeof TYPES)[number]>('https');
  const [url, setUrl] = useState('');
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const hasUrl = type !== 'pull';
  const check = useCheck(type, hasUrl ? url : '');
  const create = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      const { id } = await answered(
        api.POST('/v1/destinations', {
          body: { name, type, ...(hasUrl && { url }), timeout_ms: null, asymmetric: null },
        }),
      );
      await queries.invalidateQueries({ queryKey: ['destinations', env] });
      await queries.invalidateQueries({ queryKey: ['destination-names', env] });
      onClose();
      void navigate({ to: '/$env/destinations/$id', params: { env, id } });
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('destination.new')} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label>
          {t('destination.name')}
          <input
            required
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.target.value)}
            autoFocus
            autoComplete="off"
          />
        </label>
        <label>
          {t('destination.type')}
          <select value={type} onChange={(event) => setType(event.target.value as typeof type)}>
            {TYPES.map((each) => (
              <option key={each} value={each}>
                {t(`type.${each}`)}
              </option>
            ))}
          </select>
        </label>
        {hasUrl && (
          <label>
            URL
            <input
              required
              type="url"
              maxLength={2048}
              value={url}
              onChange={(event) => setUrl(event.target.value)}
              autoComplete="off"
              spellCheck={false}
              placeholder="https://example.com/webhooks"
            />
          </label>
        )}
        {hasUrl && (
          <p role="status" className="check">
            {check === 'asking'
              ? t('check.asking')
              : check === null
                ? ' '
                : check.ok
                  ? `✓ ${t('check.good')}`
                  : `✕ ${check.detail ?? t('check.bad')}`}
          </p>
        )}
        <FaultLine fault={fault} />
        <p className="actions">
          <button type="submit" className="primary" disabled={isBusy}>
            {t('create')}
          </button>
          <button type="button" onClick={onClose}>
            {t('close')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}

/** Returns the result of the URL check. Null before the first check. */
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
