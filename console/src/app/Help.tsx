import type { ReactNode } from 'react';
import { Dialog } from '../kit/dialog/Dialog';
import { t } from '../kit/messages/t';
import { keysOf, type ShortcutId, SHORTCUTS } from '../kit/shortcuts/registry';

/** List of all keyboard shortcuts. */
export function Help({ onClose }: { onClose: () => void }): ReactNode {
  return (
    <Dialog title={t('shortcut.help')} onClose={onClose}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('help.keys')}</th>
            <th scope="col">{t('help.action')}</th>
          </tr>
        </thead>
        <tbody>
          {(Object.keys(SHORTCUTS) as ShortcutId[]).map((id) => (
            <tr key={id}>
              <td>
                <kbd>{keysOf(id)}</kbd>
              </td>
              <td>{t(SHORTCUTS[id].label)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="actions">
        <button type="button" onClick={onClose}>
          {t('close')}
        </button>
      </p>
    </Dialog>
  );
}
