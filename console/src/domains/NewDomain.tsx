import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { FormDialog } from '../kit/dialog/FormDialog';
import { t } from '../kit/messages/t';
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
  const [mx, setMx] = useState<ReturnType<typeof mxOf>>(null);
  const create = async (): Promise<void> => {
    const body = { domain: domain.trim(), kind, acknowledge_mx_conflict: isAcknowledged };
    const made = await answered(api.POST('/v1/domains', { body })).catch((fault: unknown) => {
      setMx(kind === 'email' ? mxOf(fault) : null);
      throw fault;
    });
    await known(made);
    void navigate({ to: '/$env/domains/$id', params: { env, id: made.id } });
  };
  return (
    <FormDialog
      title={t('domain.new')}
      action={t('create')}
      isOff={mx !== null && !isAcknowledged}
      success={t('domain.created')}
      onSubmit={create}
      onClose={onClose}
    >
      <label>
        {t('domain.name')}
        <input
          required
          maxLength={253}
          value={domain}
          onChange={(event) => {
            setDomain(event.target.value);
            setMx(null);
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
                setMx(null);
              }}
            />
            <span>
              <strong>{t(`kind.${each}`)}</strong>
              <span className="quiet">{t(`kind.${each}.text`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {mx !== null && <MxConflict mx={mx} isAcknowledged={isAcknowledged} onChange={setAcknowledged} />}
    </FormDialog>
  );
}
