import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { t } from '../messages/t';
import { usePreferences } from '../preferences';
import { headlineOf } from './fault-headline';

/** An option of `Picker`. */
export interface PickerOption {
  id: string;
  label: string;
  /** Text that distinguishes options with the same name. */
  detail?: string;
}

interface PickerProps {
  label: string;
  /** Id of the picked option. Empty for none. */
  value: string;
  /** Text shown for the picked option. */
  shown: string;
  /** Options that match the typed text. The caller updates them while the user types. */
  options: readonly PickerOption[];
  onText: (text: string) => void;
  /** Called with the id of the picked option, or with the typed text (a URL, or an application's `uid`). */
  onPick: (id: string) => void;
  /** Why the options could not be loaded. Shown in place of the options. Null if they were loaded. */
  fault?: object | null;
  /** Text of the empty field. */
  placeholder?: string;
}

/** Combobox that searches by name and returns the id (ARIA combobox pattern with a listbox). */
export function Picker({
  label,
  value,
  shown,
  options,
  onText,
  onPick,
  fault = null,
  placeholder = t('picker.any'),
}: PickerProps): ReactNode {
  const { language } = usePreferences();
  const [text, setText] = useState<string | null>(null);
  const [chosen, setChosen] = useState(-1);
  const list = useId();
  const isOpen = text !== null;
  useEffect(() => setText(null), [value]);
  const close = (): void => {
    setText(null);
    setChosen(-1);
  };
  const pick = (id: string): void => {
    close();
    if (id !== value) onPick(id);
  };
  const commit = (): void => {
    if (text === null) return;
    const typed = text.trim();
    const same = options.find(({ id, label: name }) => id === typed || name.toLowerCase() === typed.toLowerCase());
    pick(typed === shown ? value : (same?.id ?? typed));
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options.length > 0) {
      if (text === null) type(shown);
      setChosen((chosen + step + options.length + (chosen === -1 && step === -1 ? 1 : 0)) % options.length);
    } else if (event.key === 'Enter') {
      if (isOpen && options[chosen] !== undefined) pick(options[chosen].id);
      else commit();
    } else if (event.key === 'Escape' && isOpen) {
      event.stopPropagation();
      close();
    } else return;
    event.preventDefault();
  };
  const type = (typed: string): void => {
    setText(typed);
    setChosen(-1);
    onText(typed === shown ? '' : typed.trim());
  };
  return (
    <div className="picker field">
      <label htmlFor={`${list}-field`}>{label}</label>
      <input
        id={`${list}-field`}
        role="combobox"
        aria-expanded={isOpen && options.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        size={16}
        maxLength={256}
        aria-activedescendant={isOpen && chosen >= 0 ? `${list}-${chosen}` : undefined}
        placeholder={placeholder}
        value={text ?? shown}
        title={value === '' ? undefined : value}
        onChange={({ target }) => type(target.value)}
        onFocus={({ target }) => {
          target.select();
          onText('');
        }}
        onClick={() => {
          if (!isOpen) type(shown);
        }}
        onBlur={commit}
        onKeyDown={press}
      />
      <ul id={list} role="listbox" aria-label={label} className="picker-list" hidden={!isOpen || options.length === 0}>
        {isOpen &&
          options.map(({ id, label: name, detail }, index) => (
            <li
              key={id}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === chosen}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => pick(id)}
              onMouseMove={() => setChosen(index)}
            >
              <span>{name}</span>
              {detail !== undefined && <span className="quiet">{detail}</span>}
            </li>
          ))}
      </ul>
      {isOpen && fault !== null && (
        <p className="picker-list" role="alert">
          {headlineOf(fault, language).headline}
        </p>
      )}
    </div>
  );
}
