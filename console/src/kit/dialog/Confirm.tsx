import { type ReactNode, useId, useState } from 'react';
import { FaultLine } from '../form/FaultLine';
import { t } from '../messages/t';
import { toast } from '../toast/toasts';
import { Dialog } from './Dialog';

interface ConfirmProps {
  title: string;
  children: ReactNode;
  action: string;
  /** Text that the user must type first. Used for actions that cannot be undone. */
  typed?: string;
  isDangerous?: boolean;
  /** Whether the confirm button is disabled. */
  isOff?: boolean;
  /** Whether the dialog stays open after the action, so that the caller can show the next step. */
  keepsOpen?: boolean;
  /** Message to show after the action succeeded. */
  success?: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Dialog that asks for confirmation and runs the action. If the action fails, it stays open and shows the reason. */
export function Confirm({
  title,
  children,
  action,
  typed,
  isDangerous = false,
  isOff = false,
  keepsOpen = false,
  success,
  onConfirm,
  onClose,
}: ConfirmProps): ReactNode {
  const [entered, setEntered] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const field = useId();
  const succeed = (): void => {
    if (!keepsOpen) onClose();
    if (success !== undefined) toast(success);
  };
  const confirm = (): void => {
    setBusy(true);
    setFault(null);
    onConfirm()
      .then(succeed, setFault)
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          confirm();
        }}
      >
        {children}
        {typed !== undefined && (
          <p>
            <label htmlFor={field}>{t('confirm.type', { text: typed })}</label>
            <input
              id={field}
              value={entered}
              onChange={(event) => setEntered(event.target.value)}
              autoComplete="off"
              spellCheck={false}
            />
          </p>
        )}
        <FaultLine fault={fault} />
        <p className="actions">
          <button
            type="submit"
            className={isDangerous ? 'danger' : 'primary'}
            disabled={isBusy || isOff || (typed !== undefined && entered !== typed)}
          >
            {action}
          </button>
          <button type="button" onClick={onClose}>
            {t('close')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
