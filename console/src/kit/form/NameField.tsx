import type { ReactNode } from 'react';

export interface NameFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** Field for the name of a resource, which has 1 to 200 characters. It is the first field of a dialog and gets the focus. */
export function NameField({ label, value, onChange }: NameFieldProps): ReactNode {
  return (
    <label>
      {label}
      <input
        required
        maxLength={200}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        autoFocus
        autoComplete="off"
      />
    </label>
  );
}
