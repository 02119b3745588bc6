import './event-types.css';
import { type ReactNode, useId, useState } from 'react';
import { isCovered, toggled, type TypeNode, typeTree } from './event-tree';

type TextKey = 'types' | 'types.all' | 'types.some' | 'types.other' | 'types.add' | 'types.below' | 'types.remove';

interface Choice {
  /** Chosen types and patterns. An empty choice means all event types. */
  value: readonly string[];
  onChange: (value: string[]) => void;
  /** Returns a text in the user's language. The console and the portal have separate catalogs of texts. */
  text: (key: TextKey, values?: Readonly<Record<string, string>>) => string;
}

interface EventTypePickerProps extends Choice {
  /** Event types of the catalog. */
  types: readonly { name: string; description: string | null }[];
}

/** Picker for event types: single types, wildcards for groups, and typed patterns that are not in the catalog. */
export function EventTypePicker({ types, value, onChange, text }: EventTypePickerProps): ReactNode {
  const [isSome, setSome] = useState(value.length > 0);
  const group = useId();
  const tree = typeTree(types);
  const known = new Set(tree.flatMap((node) => [node.pattern, ...node.children.map((child) => child.pattern)]));
  const choose = (some: boolean): void => {
    setSome(some);
    if (!some) onChange([]);
  };
  return (
    <fieldset>
      <legend>{text('types')}</legend>
      <label className="choice">
        <input type="radio" name={group} checked={!isSome} onChange={() => choose(false)} /> {text('types.all')}
      </label>
      <label className="choice">
        <input type="radio" name={group} checked={isSome} onChange={() => choose(true)} /> {text('types.some')}
      </label>
      {isSome && (
        <div className="types">
          {tree.map((node) => (
            <Node key={node.pattern} node={node} value={value} onChange={onChange} text={text} />
          ))}
          <Others value={value} known={known} onChange={onChange} text={text} />
        </div>
      )}
    </fieldset>
  );
}

function Node({ node, ...choice }: Choice & { node: TypeNode }): ReactNode {
  return (
    <div className="type-group">
      <Check node={node} {...choice} />
      {node.children.length > 0 && (
        <div className="type-children">
          {node.children.map((child) => (
            <Check key={child.pattern} node={child} {...choice} />
          ))}
        </div>
      )}
    </div>
  );
}

function Check({ node, value, onChange, text }: Choice & { node: TypeNode }): ReactNode {
  const isBelow = !value.includes(node.pattern) && isCovered(node.pattern, value);
  return (
    <label className="choice">
      <input
        type="checkbox"
        checked={isBelow || value.includes(node.pattern)}
        disabled={isBelow}
        onChange={() => onChange(toggled(node.pattern, value))}
      />
      <span>
        <code>{node.label}</code>
        {node.children.length > 0 && (
          <span className="quiet"> {text('types.below', { name: node.pattern.slice(0, -1) })}</span>
        )}
        {node.description !== null && <span className="quiet"> {node.description}</span>}
      </span>
    </label>
  );
}

function Others({ value, known, onChange, text }: Choice & { known: ReadonlySet<string> }): ReactNode {
  const [typed, setTyped] = useState('');
  const field = useId();
  const others = value.filter((pattern) => !known.has(pattern));
  const add = (): void => {
    const pattern = typed.trim();
    if (pattern !== '' && !value.includes(pattern)) onChange(toggled(pattern, value));
    setTyped('');
  };
  return (
    <>
      {others.length > 0 && (
        <ul className="chips">
          {others.map((pattern) => (
            <li key={pattern}>
              <code>{pattern}</code>{' '}
              <button
                type="button"
                className="small"
                aria-label={text('types.remove', { name: pattern })}
                onClick={() => onChange(toggled(pattern, value))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <label htmlFor={field}>{text('types.other')}</label>
      <div className="actions">
        <input
          id={field}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          placeholder="invoice.*"
          spellCheck={false}
          autoComplete="off"
          onKeyDown={(event) => {
            if (event.key === 'Enter') {
              event.preventDefault();
              add();
            }
          }}
        />
        <button type="button" onClick={add} disabled={typed.trim() === ''}>
          {text('types.add')}
        </button>
      </div>
    </>
  );
}
