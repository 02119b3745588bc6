import type { ReactNode } from 'react';

interface SegmentedProps<T extends string> {
  label: string;
  options: readonly { id: T; label: string }[];
  chosen: T;
  onChoose: (id: T) => void;
}

/** Control that shows all alternatives beside each other. Exactly one of them is chosen. */
export function Segmented<T extends string>({ label, options, chosen, onChoose }: SegmentedProps<T>): ReactNode {
  return (
    <span role="group" aria-label={label} className="segmented">
      {options.map(({ id, label: name }) => (
        <button key={id} type="button" className="small" aria-pressed={id === chosen} onClick={() => onChoose(id)}>
          {name}
        </button>
      ))}
    </span>
  );
}
