import { type ReactNode, useState } from 'react';
import { Confirm } from '../dialog/Confirm';
import { t } from '../messages/t';

interface DangerZoneProps {
  /** Name of the resource. The user must type it to delete the resource. */
  name: string;
  /** Consequences of deleting the resource. */
  text: string;
  /** Message to show after the resource is deleted. */
  success?: string;
  onDelete: () => Promise<unknown>;
}

/** Last section of a settings page, for deleting the resource of the page. */
export function DangerZone({ name, text, success, onDelete }: DangerZoneProps): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const label = `${t('delete')}: ${name}`;
  return (
    <section aria-labelledby="danger-zone" className="danger-zone">
      <h2 id="danger-zone">{t('danger-zone')}</h2>
      <p>{text}</p>
      <button type="button" className="destructive" aria-label={label} onClick={() => setAsked(true)}>
        {t('delete')}
      </button>
      {isAsked && (
        <Confirm
          title={label}
          action={t('delete')}
          isDangerous
          typed={name}
          onConfirm={onDelete}
          onClose={() => setAsked(false)}
          {...(success !== undefined && { success })}
        >
          <p>{text}</p>
        </Confirm>
      )}
    </section>
  );
}
