import { type ReactNode, useId, useState } from 'react';
import { answered } from '../api/client';
import { portalApi, portalNowMs } from '../api/portal';
import { FaultLine } from '../kit/form/FaultLine';
import { usePortal } from './context';
import { p } from './texts';

const SPANS = [
  [3_600, 'recover.hour'],
  [86_400, 'recover.day'],
  [604_800, 'recover.week'],
] as const;

/** Form that resends the failed events of one endpoint since a given time. */
export function Recover({ endpoint }: { endpoint: string }): ReactNode {
  const { app } = usePortal();
  const [span, setSpan] = useState(86_400);
  const [said, setSaid] = useState<string | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useId();
  const start = (): void => {
    setBusy(true);
    setFault(null);
    setSaid(null);
    const since = new Date(portalNowMs() - span * 1000).toISOString();
    answered(
      portalApi.POST('/v1/app/{app}/endpoints/{endpoint}/recover', {
        params: { path: { app, endpoint } },
        body: { since } as never,
      }),
    )
      .then((job) => setSaid(p('recover.started', { count: job.total_estimate })), setFault)
      .finally(() => setBusy(false));
  };
  return (
    <div className="panel">
      <h3>{p('recover')}</h3>
      <p className="quiet">{p('recover.text')}</p>
      <p className="actions">
        <label htmlFor={field}>{p('recover.since')}</label>
        <select id={field} value={span} onChange={(event) => setSpan(Number(event.target.value))}>
          {SPANS.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {p(label)}
            </option>
          ))}
        </select>
        <button type="button" onClick={start} disabled={isBusy}>
          {p('recover.start')}
        </button>
      </p>
      <p role="status">{said}</p>
      <FaultLine fault={fault} />
    </div>
  );
}
