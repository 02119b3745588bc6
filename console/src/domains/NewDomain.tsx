import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { toast } from '../kit/toast/toasts';
import { useSigned } from '../session/session';
import { useKnownDomain } from './domain-queries';
import { MxConflict, mxOf } from './MxConflict';

const KINDS = ['email-send', 'email', 'webhook'] as const;

/** Form for a new domain. If another server receives the domain's mail, asks for confirmation. */
export function NewDomain({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const navigate = useNavigate();
  const known = useKnownDomain();
  const [domain, setDomain] = useState('');
  const [kind, setKind] = useState<(typeof KINDS)[number]>('email-send');
  const [isAcknowledged, setAcknowledged] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const mx = kind === 'email' ? mxOf(fault) : null;
  const create = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      const made = await answered(
        api.POST('/v1/domains', { body: { domain: domain.trim(), kind, acknowledge_mx_conflict: isAcknowledged } }),
      );
      await known(made);
      onClose();
      toast(t('domain.created'));
      void navigate({ to: '/$env/domains/$id', params: { env, id: made.id } });
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('domain.new')} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label>
          {t('domain.name')}
          <input
            required
            maxLength={253}
            value={domain}
            onChange={(event) => {
              setDomain(event.target.value);
              setFault(null);
              setAcknowledged(false);
            }}
            autoFocus
            autoComplete="off"
            spellCheck={false}
            placeholder="mail.example.com"
          />
        </label>
        <fieldset className="radio-cards">
          <legend>{t('domain.kind')}</legend>
          {KINDS.map((each) => (
            <label key={each}>
              <input
                type="radio"
                name="kind"
                checked={kind === each}
                onChange={() => {
                  setKind(each);
                  setFault(null);
                }}
              />
              <span>
                <strong>{t(`kind.${each}`)}</strong>
                <span className="quiet">{t(`kind.${each}.text`)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <FaultLine fault={fault} />
        {mx !== null && <MxConflict mx={mx} isAcknowledged={isAcknowledged} onChange={setAcknowledged} />}
        <p className="actions">
          <button type="submit" className="primary" disabled={isBusy || (mx !== null && !isAcknowledged)}>
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
