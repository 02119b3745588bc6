import { type ReactNode, useEffect, useState } from 'react';
import { CopyButton } from '../CopyButton';
import { Confirm } from '../dialog/Confirm';
import { t } from '../messages/t';
import { FaultLine } from './FaultLine';

const SHOWN_MS = 60_000;
const GRACES = [
  [0, 'grace.now'],
  [3_600, 'grace.hour'],
  [86_400, 'grace.day'],
  [604_800, 'grace.week'],
] as const;

interface SigningSecretProps {
  /** Text that the user must type before the secret is rotated. */
  name: string;
  onRead: () => Promise<{ secret: string }>;
  /** Rotates the secret. The old secret stays valid for the given number of seconds. */
  onRotate: (graceSeconds: number) => Promise<{ secret: string }>;
}

/** The signing secret. Loaded by a click, hidden after a minute or when the page is hidden, and never cached. */
export function SigningSecret({ name, onRead, onRotate }: SigningSecretProps): ReactNode {
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
    onRead().then(({ secret }) => setShown(secret), setFault);
  };
  const rotate = async (): Promise<void> => {
    const { secret } = await onRotate(grace);
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
