import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';

interface SelectAllProps {
  count: number;
  selected: number;
  onMark: () => void;
}

/** Checkbox that selects all rows of a list. */
export function SelectAll({ count, selected, onMark }: SelectAllProps): ReactNode {
  return (
    <input
      type="checkbox"
      aria-label={t('mail.select-all')}
      checked={selected > 0 && selected === count}
      ref={(box) => {
        if (box !== null) box.indeterminate = selected > 0 && selected < count;
      }}
      onChange={onMark}
    />
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
