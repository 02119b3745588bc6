import { type ReactNode, useEffect, useState } from 'react';

interface TextFilterProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
}

/** Text filter that applies on Enter or when it loses the focus, because incomplete words match nothing. */
export function TextFilter({ label, value, onChange, placeholder }: TextFilterProps): ReactNode {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = (): void => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <label>
      {label}
      <input
        type="search"
        value={text}
        size={18}
        autoComplete="off"
        spellCheck={false}
        maxLength={256}
        placeholder={placeholder}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit();
        }}
      />
    </label>
  );
}
