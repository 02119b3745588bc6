import { type ReactNode, useEffect, useState } from 'react';

/** What a filter of a text is given. */
interface TextFilterProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
}

/** Takes effect with Enter or when it is left: a filter of half a word would find nothing. */
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
