import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { useAliases, useSimulator } from './mail-queries';

/**
 * Form that sends an email to a simulated recipient. If the environment sends no mail to other servers, the recipient
 * can also be an alias.
 */
export function Simulator({ onClose }: { onClose: () => void }): ReactNode {
  const { data, error } = useSimulator();
  return (
    <Dialog title={t('simulator')} onClose={onClose}>
      <p>{t('simulator.text')}</p>
      <FaultLine fault={error} />
      {data ? <Form simulator={data} onClose={onClose} /> : <p role="status">{t('loading')}</p>}
    </Dialog>
  );
}

function Form({
  simulator: { host, addresses, captured },
  onClose,
}: {
  simulator: Schemas['SimulatorDetail'];
  onClose: () => void;
}): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const aliases = useAliases();
  const [to, setTo] = useState(addresses[0]?.address ?? '');
  const [subject, setSubject] = useState(t('simulator.subject'));
  const [text, setText] = useState(t('simulator.body'));
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      const html = `<h1>${escaped(subject)}</h1><p>${escaped(text)}</p>`;
      const { id } = await answered(
        api.POST('/v1/emails', { body: { from: `Posthorn <console@${host}>`, to, subject, text, html } }),
      );
      await queries.invalidateQueries({ queryKey: ['emails', env] });
      onClose();
      void navigate({ to: '/$env/emails/$id', params: { env, id } });
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <form
      className="stacked"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label>
        {t('mail.to')}
        <select value={to} onChange={(event) => setTo(event.target.value)} autoFocus>
          <optgroup label={t('simulator.roles')}>
            {addresses.map(({ role, address }) => (
              <option key={role} value={address}>{`${address}: ${t(`simulator.${role}`)}`}</option>
            ))}
          </optgroup>
          {captured && aliases.rows.length > 0 && (
            <optgroup label={t('simulator.aliases')}>
              {aliases.rows
                .filter(({ localPart }) => localPart !== '*')
                .map(({ id, address }) => (
                  <option key={id} value={address}>
                    {address}
                  </option>
                ))}
            </optgroup>
          )}
        </select>
      </label>
      <label>
        {t('mail.subject')}
        <input
          required
          maxLength={998}
          value={subject}
          onChange={(event) => setSubject(event.target.value)}
          autoComplete="off"
        />
      </label>
      <label>
        {t('mail.tab.text')}
        <textarea required rows={4} maxLength={10_000} value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <p className="quiet">{t(captured ? 'simulator.captured' : 'simulator.leaves')}</p>
      <FaultLine fault={fault} />
      <p className="actions">
        <button type="submit" className="primary" disabled={isBusy}>
          {t('simulator.send')}
        </button>
        <button type="button" onClick={onClose}>
          {t('close')}
        </button>
      </p>
    </form>
  );
}

/** Escapes text for the HTML of the sent message. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
