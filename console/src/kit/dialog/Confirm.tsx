import { type ReactNode, useId, useState } from 'react';
import { t } from '../messages/t';
import { FormDialog, type FormDialogProps } from './FormDialog';

interface ConfirmProps extends Omit<FormDialogProps, 'onSubmit'> {
  /** Text that the user must type first. Used for actions that cannot be undone. */
  typed?: string;
  onConfirm: () => Promise<unknown>;
}

/** Dialog that asks for confirmation and runs the action. If the action fails, it stays open and shows the reason. */
export function Confirm({ typed, isOff = false, onConfirm, children, ...dialog }: ConfirmProps): ReactNode {
  const [entered, setEntered] = useState('');
  const field = useId();
  return (
    <FormDialog {...dialog} isOff={isOff || (typed !== undefined && entered !== typed)} onSubmit={onConfirm}>
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
    </FormDialog>
  );
}
