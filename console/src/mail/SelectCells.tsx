import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';

interface SelectAllProps {
  count: number;
  selected: number;
  onMark: () => void;
}

/** Checkbox that selects all rows of a list. Its label is visible on phones, where the checkbox is above the cards. */
export function SelectAll({ count, selected, onMark }: SelectAllProps): ReactNode {
  return (
    <label className="mail-select-all">
      <input
        type="checkbox"
        checked={selected > 0 && selected === count}
        ref={(box) => {
          if (box !== null) box.indeterminate = selected > 0 && selected < count;
        }}
        onChange={onMark}
      />
      <span>{t('mail.select-all')}</span>
    </label>
  );
}

interface SelectRowProps {
  id: string;
  name: string;
  isSelected: boolean;
  onMark: (id: string, isRange: boolean) => void;
}

/** Checkbox of a row. With Shift, the checkbox selects a range of rows. */
export function SelectRow({ id, name, isSelected, onMark }: SelectRowProps): ReactNode {
  return (
    <input
      type="checkbox"
      aria-label={t('select.event', { id: name })}
      checked={isSelected}
      onChange={() => undefined}
      onClick={(event) => onMark(id, event.shiftKey)}
    />
  );
}
