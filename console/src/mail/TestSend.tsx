import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { useSimulator } from './mail-queries';
import type { Rendered, Template } from './template-queries';

interface TestSendProps {
  template: Template;
  rendered: Rendered;
  onSent: (id: string) => void;
  onClose: () => void;
}

/** Sends the rendered template as an email, to the simulator or to another address. */
export function TestSend(props: TestSendProps): ReactNode {
  const { data, error } = useSimulator();
  return (
    <Dialog title={t('template.test')} onClose={props.onClose}>
      <p>{t('template.test-text')}</p>
      <FaultLine fault={error} />
      {data ? <Form {...props} simulator={data} /> : <p role="status">{t('loading')}</p>}
    </Dialog>
  );
}

function Form({
  template,
  rendered,
  simulator: { host, addresses, captured },
  onSent,
  onClose,
}: TestSendProps & { simulator: Schemas['SimulatorDetail'] }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [to, setTo] = useState(addresses[0]?.address ?? '');
  const [from, setFrom] = useState(`Posthorn <console@${host}>`);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (): Promise<void> => {
    const { html, text } = rendered;
    const subject = rendered.subject?.trim() || template.name;
    const { id } = await answered(
      api.POST('/v1/emails', {
        body: { from, to: to.trim(), subject, ...(html !== null && { html }), ...(text !== null && { text }) },
      }),
    );
    await queries.invalidateQueries({ queryKey: ['emails', env] });
    onSent(id);
    onClose();
  };
  return (
    <form
      className="stacked"
      onSubmit={(event) => {
        event.preventDefault();
        setBusy(true);
        setFault(null);
        send().catch((error: unknown) => {
          setFault(error);
          setBusy(false);
        });
      }}
    >
      <label>
        {t('mail.to')}
        <input
          required
          list="test-recipients"
          inputMode="email"
          maxLength={320}
          value={to}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setTo(event.target.value)}
        />
      </label>
      <datalist id="test-recipients">
        {addresses.map(({ role, address }) => (
          <option key={role} value={address}>
            {t(`simulator.${role}`)}
          </option>
        ))}
      </datalist>
      <label>
        {t('mail.from')}
        <input
          required
          list="test-senders"
          maxLength={1_024}
          value={from}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setFrom(event.target.value)}
        />
      </label>
      <datalist id="test-senders">{template.from !== null && <option value={template.from} />}</datalist>
      <p className="quiet">{t(captured ? 'simulator.captured' : 'simulator.leaves')}</p>
      <FaultLine fault={fault} />
      <p className="actions">
        <button
          type="submit"
          className="primary"
          disabled={isBusy || (rendered.html === null && rendered.text === null)}
        >
          {t('simulator.send')}
        </button>
        <button type="button" onClick={onClose}>
          {t('close')}
        </button>
      </p>
    </form>
  );
}
