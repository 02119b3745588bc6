import { type ReactNode, useId, useState } from 'react';
import { answered } from '../api/client';
import { portalApi } from '../api/portal';
import { FaultLine } from '../kit/form/FaultLine';
import { usePortal } from './context';
import { p } from './texts';

/** Field for an endpoint's URL, with a button that checks whether the URL responds. */
export function UrlField({ value, onChange }: { value: string; onChange: (url: string) => void }): ReactNode {
  const { app } = usePortal();
  const [said, setSaid] = useState<{ ok: boolean; detail: string } | 'checking' | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [field, result] = [useId(), useId()];
  const check = (): void => {
    setSaid('checking');
    setFault(null);
    answered(
      portalApi.POST('/v1/app/{app}/endpoints/check', { params: { path: { app } }, body: { url: value.trim() } }),
    ).then(setSaid, (why: unknown) => {
      setSaid(null);
      setFault(why);
    });
  };
  return (
    <div className="field">
      <label htmlFor={field}>{p('url')}</label>
      <div className="actions">
        <input
          id={field}
          className="grow"
          type="url"
          required
          value={value}
          placeholder={p('url.hint')}
          maxLength={2048}
          spellCheck={false}
          autoComplete="off"
          aria-describedby={result}
          onChange={(event) => {
            onChange(event.target.value);
            setSaid(null);
          }}
        />
        <button type="button" onClick={check} disabled={value.trim() === '' || said === 'checking'}>
          {p('url.check')}
        </button>
      </div>
      <p id={result} role="status" className="quiet">
        {said === 'checking' && p('url.checking')}
        {said !== null && said !== 'checking' && (
          <>
            <span className={`status ${said.ok ? 'good' : 'bad'}`}>
              <span aria-hidden="true">{said.ok ? '✓' : '✕'}</span> {p(said.ok ? 'url.ok' : 'url.not-ok')}
            </span>{' '}
            {said.detail}
          </>
        )}
      </p>
      <FaultLine fault={fault} />
    </div>
  );
}
