import type { ReactNode } from 'react';
import { Disclosure } from '../Disclosure';

interface ChoicesProps<T extends string> {
  label: string;
  /** Text of the closed control, which describes the current choices. */
  shown: string;
  options: readonly { id: T; label: string; isFixed?: boolean }[];
  chosen: readonly T[];
  onChange: (chosen: T[]) => void;
  /** Button that clears all choices. */
  clear?: { label: string; onClear: () => void };
}

/** Multiple-choice control: a list of checkboxes that opens below its label. */
export function Choices<T extends string>({
  label,
  shown,
  options,
  chosen,
  onChange,
  clear,
}: ChoicesProps<T>): ReactNode {
  return (
    <div className="choices field">
      <span>{label}</span>
      <Disclosure
        label={
          <>
            <span className="offscreen">{label}: </span>
            <span className="choices-shown">{shown}</span>
          </>
        }
      >
        {() => (
          <fieldset>
            <legend className="offscreen">{label}</legend>
            {options.map(({ id, label: name, isFixed = false }) => (
              <label key={id} className="check">
                <input
                  type="checkbox"
                  checked={chosen.includes(id)}
                  disabled={isFixed}
                  onChange={({ target }) =>
                    onChange(
                      options
                        .map((each) => each.id)
                        .filter((each) => (each === id ? target.checked : chosen.includes(each))),
                    )
                  }
                />
                <span>{name}</span>
              </label>
            ))}
            {clear !== undefined && (
              <button type="button" className="small" onClick={clear.onClear}>
                {clear.label}
              </button>
            )}
          </fieldset>
        )}
      </Disclosure>
    </div>
  );
}
