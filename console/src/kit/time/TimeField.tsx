import type { ReactNode } from 'react';

/** Field for a time in the user's time zone. The value is RFC 3339, or empty. */
export function TimeField({
  label,
  value,
  onChange,
  isRequired = false,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  isRequired?: boolean;
}): ReactNode {
  const change = (local: string): void => {
    const date = new Date(local);
    onChange(local === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString());
  };
  return (
    <label>
      {label}
      <input
        type="datetime-local"
        required={isRequired}
        step={1}
        value={localOf(value)}
        onChange={(event) => change(event.target.value)}
      />
    </label>
  );
}

/** Returns the value of the input element: the time in the user's time zone, without a zone offset. */
function localOf(iso: string): string {
  const date = new Date(iso);
  if (iso === '' || Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
