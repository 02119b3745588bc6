import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';

/** Header cell with a checkbox that selects all rows of a list. */
export function SelectAll({
  count,
  selected,
  onMark,
}: {
  count: number;
  selected: number;
  onMark: () => void;
}): ReactNode {
  return (
    <th scope="col" className="mail-mark">
      <input
        type="checkbox"
        aria-label={t('mail.select-all')}
        checked={selected > 0 && selected === count}
        ref={(box) => {
          if (box !== null) box.indeterminate = selected > 0 && selected < count;
        }}
        onChange={onMark}
      />
    </th>
  );
}

interface SelectRowProps {
  id: string;
  name: string;
  isSelected: boolean;
  onMark: (id: string, isRange: boolean) => void;
}

/** Cell with the checkbox of a row. With Shift, the checkbox selects a range of rows. */
export function SelectRow({ id, name, isSelected, onMark }: SelectRowProps): ReactNode {
  return (
    <td className="mail-mark">
      <input
        type="checkbox"
        aria-label={t('select.event', { id: name })}
        checked={isSelected}
        onChange={() => undefined}
        onClick={(event) => onMark(id, event.shiftKey)}
      />
    </td>
  );
}
