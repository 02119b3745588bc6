import { type ReactNode, useEffect, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

const SHOWN_MS = 60_000;
const GRACES = [
  [0, 'grace.now'],
  [3_600, 'grace.hour'],
  [86_400, 'grace.day'],
  [604_800, 'grace.week'],
] as const;

/**
 * The signing secret. It is loaded by a click, is hidden after a minute or when the page is hidden, and is never
 * cached.
 */
export function Secret({ id, name }: { id: string; name: string }): ReactNode {
  const { api } = useSigned();
  const [shown, setShown] = useState<string | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isRotating, setRotating] = useState(false);
  const [grace, setGrace] = useState(86_400);
  useEffect(() => {
    if (shown === null) return;
    const hide = (): void => setShown(null);
    const timer = setTimeout(hide, SHOWN_MS);
    window.addEventListener('blur', hide);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('blur', hide);
    };
  }, [shown]);
  const reveal = (): void => {
    setFault(null);
    answered(api.GET('/v1/destinations/{id}/secret', { params: { path: { id } } })).then(
      ({ secret }) => setShown(secret),
      setFault,
    );
  };
  const rotate = async (): Promise<void> => {
    const { secret } = await answered(
      api.POST('/v1/destinations/{id}/secret/rotate', { params: { path: { id } }, body: { grace_seconds: grace } }),
    );
    setShown(secret);
  };
  return (
    <section aria-labelledby="secret">
      <h2 id="secret">{t('secret')}</h2>
      <p className="actions">
        {shown === null ? (
          <button type="button" onClick={reveal}>
            {t('secret.show')}
          </button>
        ) : (
          <>
            <code className="secret">{shown}</code> <CopyButton text={shown} label={t('copy')} />
            <button type="button" className="small" onClick={() => setShown(null)}>
              {t('secret.hide')}
            </button>
          </>
        )}
        <button type="button" onClick={() => setRotating(true)}>
          {t('secret.rotate')}
        </button>
      </p>
      <FaultLine fault={fault} />
      {isRotating && (
        <Confirm
          title={t('secret.rotate')}
          action={t('secret.rotate')}
          isDangerous
          onConfirm={rotate}
          onClose={() => setRotating(false)}
          typed={name}
        >
          <p>{t('secret.rotate-text')}</p>
          <label>
            {t('grace')}
            <select value={grace} onChange={(event) => setGrace(Number(event.target.value))}>
              {GRACES.map(([seconds, label]) => (
                <option key={seconds} value={seconds}>
                  {t(label)}
                </option>
              ))}
            </select>
          </label>
        </Confirm>
      )}
    </section>
  );
}
