import { type ReactNode, useState } from 'react';
import { FaultLine } from '../form/FaultLine';
import { t } from '../messages/t';
import { toast } from '../toast/toasts';
import { Dialog } from './Dialog';

export interface FormDialogProps {
  title: string;
  children: ReactNode;
  /** Text of the submit button. */
  action: string;
  isDangerous?: boolean;
  /** Whether the submit button is disabled. */
  isOff?: boolean;
  /** Whether the dialog stays open after the action, so that the caller can show the next step. */
  keepsOpen?: boolean;
  /** Message to show after the action succeeded. */
  success?: string;
  onSubmit: () => Promise<unknown>;
  onClose: () => void;
}

/** Dialog with a form. If the action fails, it stays open and shows the reason until the user changes a field. */
export function FormDialog({
  title,
  children,
  action,
  isDangerous = false,
  isOff = false,
  keepsOpen = false,
  success,
  onSubmit,
  onClose,
}: FormDialogProps): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const succeed = (): void => {
    if (!keepsOpen) onClose();
    if (success !== undefined) toast(success);
  };
  const submit = (): void => {
    setBusy(true);
    setFault(null);
    onSubmit()
      .then(succeed, setFault)
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stacked"
        onChange={() => setFault(null)}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {children}
        <FaultLine fault={fault} />
        <p className="actions">
          <button type="submit" className={isDangerous ? 'danger' : 'primary'} disabled={isBusy || isOff}>
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
