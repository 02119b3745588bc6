import { type ReactNode, useEffect, useId, useState } from 'react';
import { answered } from '../api/client';
import { portalApi } from '../api/portal';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { usePortal } from './context';
import { SAMPLES } from './samples';
import { p } from './texts';

const SHOWN_MS = 60_000;
const GRACES = [
  [0, 'grace.now'],
  [3_600, 'grace.hour'],
  [86_400, 'grace.day'],
  [604_800, 'grace.week'],
] as const;

/**
 * The signing secret with its rotation, and code samples for the verification. The secret is loaded by a click, and
 * hidden after a minute or when the page is hidden.
 */
export function SecretPanel({ endpoint }: { endpoint: string }): ReactNode {
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => {
    if (shown === null) return;
    const hide = (): void => setShown(null);
    const look = (): void => {
      if (document.hidden) hide();
    };
    const timer = setTimeout(hide, SHOWN_MS);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [shown]);
  return (
    <div className="panel">
      <h3>{p('secret')}</h3>
      <p className="quiet">{p('secret.text')}</p>
      {shown !== null && (
        <p role="status">
          {p('secret.shown')} <code className="secret">{shown}</code>
        </p>
      )}
      {shown !== null && (
        <p className="actions">
          <CopyButton text={shown} label={p('copy')} />
          <button type="button" className="small" onClick={() => setShown(null)}>
            {p('secret.hide')}
          </button>
        </p>
      )}
      <Ask endpoint={endpoint} isShown={shown !== null} onSecret={setShown} />
      <Samples />
    </div>
  );
}

function Ask({
  endpoint,
  isShown,
  onSecret,
}: {
  endpoint: string;
  isShown: boolean;
  onSecret: (secret: string) => void;
}): ReactNode {
  const { app } = usePortal();
  const [fault, setFault] = useState<unknown>(null);
  const [isRotating, setRotating] = useState(false);
  const [grace, setGrace] = useState(86_400);
  const params = { path: { app, endpoint } };
  const show = (): void => {
    setFault(null);
    answered(portalApi.GET('/v1/app/{app}/endpoints/{endpoint}/secret', { params })).then(
      ({ secret }) => onSecret(secret),
      setFault,
    );
  };
  const rotate = (): void => {
    setFault(null);
    answered(
      portalApi.POST('/v1/app/{app}/endpoints/{endpoint}/secret/rotate', {
        params,
        body: { grace_seconds: grace } as never,
      }),
    ).then(({ secret }) => {
      setRotating(false);
      onSecret(secret);
    }, setFault);
  };
  return (
    <>
      <p className="actions">
        {!isShown && (
          <button type="button" onClick={show}>
            {p('secret.show')}
          </button>
        )}
        {!isRotating && (
          <button type="button" onClick={() => setRotating(true)}>
            {p('secret.rotate')}
          </button>
        )}
      </p>
      {isRotating && (
        <div className="why">
          <p>{p('secret.rotate-text')}</p>
          <p className="actions">
            <label>
              {p('secret.grace')}
              <select value={grace} onChange={(event) => setGrace(Number(event.target.value))}>
                {GRACES.map(([seconds, label]) => (
                  <option key={seconds} value={seconds}>
                    {p(label)}
                  </option>
                ))}
              </select>
            </label>
          </p>
          <p className="actions">
            <button type="button" className="danger" onClick={rotate}>
              {p('secret.rotate')}
            </button>
            <button type="button" onClick={() => setRotating(false)}>
              {p('cancel')}
            </button>
          </p>
        </div>
      )}
      <FaultLine fault={fault} />
    </>
  );
}

function Samples(): ReactNode {
  const [name, setName] = useState(SAMPLES[0]?.name ?? '');
  const field = useId();
  const sample = SAMPLES.find((each) => each.name === name);
  return (
    <details>
      <summary>{p('verify')}</summary>
      <p className="actions">
        <label htmlFor={field}>{p('verify.text')}</label>
        <select id={field} value={name} onChange={(event) => setName(event.target.value)}>
          {SAMPLES.map((each) => (
            <option key={each.name}>{each.name}</option>
          ))}
        </select>
      </p>
      {sample && (
        <>
          <pre>
            <code>{sample.install}</code>
          </pre>
          <pre>
            <code>{sample.code}</code>
          </pre>
          <CopyButton text={sample.code} label={p('copy')} />
        </>
      )}
    </details>
  );
}
