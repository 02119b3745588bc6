import { type FocusEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t } from '../messages/t';
import { FaultLine } from './FaultLine';

/** An option of `Picker`. */
export interface PickerOption {
  id: string;
  label: string;
  /** Text that distinguishes options with the same name. */
  detail?: string;
}

/** Props of `Picker`. */
export interface PickerProps {
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
  /** Why the options could not be loaded. Shown while the field is used. Null if they were loaded. */
  fault?: object | null;
  /** Text of the empty field. */
  placeholder?: string;
  /** Whether only options can be picked. Other text is removed when the user leaves the field. */
  isStrict?: boolean;
  isRequired?: boolean;
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
  isStrict = false,
  isRequired = false,
}: PickerProps): ReactNode {
  const [text, setText] = useState<string | null>(null);
  const [chosen, setChosen] = useState(-1);
  const [isAsked, setAsked] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const list = useId();
  const isOpen = text !== null;
  useEffect(() => setText(null), [value]);
  // The button that loads the options again is removed together with the fault, and must not take the focus with it.
  useEffect(() => {
    if (fault === null && isAsked) field.current?.focus();
  }, [fault === null]);
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
    if (typed === shown) pick(value);
    else if (same !== undefined) pick(same.id);
    else if (!isStrict || typed === '') pick(typed);
    else close();
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options.length > 0) {
      if (text === null) type(shown);
      setChosen((chosen + step + options.length + (chosen === -1 && step === -1 ? 1 : 0)) % options.length);
    } else if (event.key === 'Enter') {
      if (isOpen && options[chosen] !== undefined) pick(options[chosen].id);
      else commit();
    } else if (event.key === 'Escape' && (isOpen || (isAsked && fault !== null))) {
      event.stopPropagation();
      setAsked(false);
      close();
    } else return;
    event.preventDefault();
  };
  const type = (typed: string): void => {
    setAsked(true);
    setText(typed);
    setChosen(-1);
    onText(typed === shown ? '' : typed.trim());
  };
  const leave = ({ currentTarget, relatedTarget }: FocusEvent): void => {
    if (currentTarget.contains(relatedTarget)) return;
    setAsked(false);
    commit();
  };
  return (
    <div className="picker field" onFocus={() => setAsked(true)} onBlur={leave}>
      <label htmlFor={`${list}-field`}>{label}</label>
      <input
        ref={field}
        id={`${list}-field`}
        role="combobox"
        required={isRequired}
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
      {isAsked && fault !== null && (
        <div className="picker-list" onMouseDown={(event) => event.preventDefault()}>
          <FaultLine fault={fault} />
        </div>
      )}
    </div>
  );
}
