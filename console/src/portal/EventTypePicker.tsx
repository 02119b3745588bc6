import { type ReactNode, useId, useState } from 'react';
import { isCovered, toggled, type TypeNode, typeTree } from './event-tree';
import { useEventTypes } from './portal-queries';
import { p } from './texts';

/** Props of the picker. `value` contains the chosen patterns. An empty list means all event types. */
interface Choice {
  value: readonly string[];
  onChange: (value: string[]) => void;
}

/**
 * Picker for event types: single types, wildcards for groups of types, and typed patterns for types outside the
 * catalog.
 */
export function EventTypePicker({ value, onChange }: Choice): ReactNode {
  const { data = [] } = useEventTypes();
  const [isSome, setSome] = useState(value.length > 0);
  const group = useId();
  const tree = typeTree(data);
  const known = new Set(tree.flatMap((node) => [node.pattern, ...node.children.map((child) => child.pattern)]));
  const choose = (some: boolean): void => {
    setSome(some);
    if (!some) onChange([]);
  };
  return (
    <fieldset>
      <legend>{p('types')}</legend>
      <label className="choice">
        <input type="radio" name={group} checked={!isSome} onChange={() => choose(false)} /> {p('types.all')}
      </label>
      <label className="choice">
        <input type="radio" name={group} checked={isSome} onChange={() => choose(true)} /> {p('types.some')}
      </label>
      {isSome && (
        <div className="types">
          {tree.map((node) => (
            <Node key={node.pattern} node={node} value={value} onChange={onChange} />
          ))}
          <Others value={value} known={known} onChange={onChange} />
        </div>
      )}
    </fieldset>
  );
}

function Node({ node, value, onChange }: Choice & { node: TypeNode }): ReactNode {
  return (
    <div className="type-group">
      <Check node={node} value={value} onChange={onChange} />
      {node.children.length > 0 && (
        <div className="type-children">
          {node.children.map((child) => (
            <Check key={child.pattern} node={child} value={value} onChange={onChange} />
          ))}
        </div>
      )}
    </div>
  );
}

function Check({ node, value, onChange }: Choice & { node: TypeNode }): ReactNode {
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
          <span className="quiet"> {p('types.below', { name: node.pattern.slice(0, -1) })}</span>
        )}
        {node.description !== null && <span className="quiet"> {node.description}</span>}
      </span>
    </label>
  );
}

function Others({ value, known, onChange }: Choice & { known: ReadonlySet<string> }): ReactNode {
  const [text, setText] = useState('');
  const field = useId();
  const others = value.filter((pattern) => !known.has(pattern));
  const add = (): void => {
    const pattern = text.trim();
    if (pattern !== '' && !value.includes(pattern)) onChange(toggled(pattern, value));
    setText('');
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
                aria-label={p('types.remove', { name: pattern })}
                onClick={() => onChange(toggled(pattern, value))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <label htmlFor={field}>{p('types.other')}</label>
      <div className="actions">
        <input
          id={field}
          value={text}
          onChange={(event) => setText(event.target.value)}
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
        <button type="button" onClick={add} disabled={text.trim() === ''}>
          {p('types.add')}
        </button>
      </div>
    </>
  );
}
