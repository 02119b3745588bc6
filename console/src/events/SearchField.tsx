import { type ReactNode, useEffect, useId, useState } from 'react';
import { t } from '../kit/messages/t';
import { readSearchText, searchChanges } from './search-text';

interface SearchFieldProps {
  /** Id that the list is filtered by. Empty for none. */
  value: string;
  onSearch: (changes: ReturnType<typeof searchChanges>) => void;
}

/** Search field for ids and free text. A sentence describes what the typed text searches for. */
export function SearchField({ value, onSearch }: SearchFieldProps): ReactNode {
  const [text, setText] = useState(value);
  const id = useId();
  useEffect(() => setText(value), [value]);
  const target = readSearchText(text);
  const commit = (): void => {
    if (text.trim() === value) return;
    onSearch(searchChanges(text));
    // Text that sets a filter other than `q` is shown in the field of that filter, so this field is cleared.
    setText(target?.filter === 'q' ? target.value : '');
  };
  return (
    <div className="search-field">
      <label>
        {t('search-any')}
        <input
          value={text}
          size={24}
          autoComplete="off"
          spellCheck={false}
          maxLength={256}
          placeholder="evt_, msg_, req_ …"
          aria-describedby={id}
          onChange={({ target: field }) => setText(field.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (event.key === 'Enter') commit();
          }}
        />
      </label>
      <span id={id} className="quiet search-hint" aria-live="polite">
        {t(target === null ? 'search-any.hint' : `search-any.${target.kind}`)}
      </span>
    </div>
  );
}
