import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { hasValue, type Leaf, LEAF_TYPES, OPERATORS, subjectOf } from './conditions';

export const FIRST_LEAF: Leaf = { type: 'json', of: '$.type', op: 'eq', value: '' };

/** Props of `QuickCondition`. */
interface QuickConditionProps {
  leaf: Leaf;
  onChange: (leaf: Leaf) => void;
  onAdd: () => void;
}

/** Form that adds one condition to a filter. The user does not need to know the syntax of filters. */
export function QuickCondition({ leaf, onChange, onAdd }: QuickConditionProps): ReactNode {
  const set = (changes: Partial<Leaf>): void => onChange({ ...leaf, ...changes });
  const subject = subjectOf(leaf.type);
  const isReady = (subject === null || leaf.of.trim() !== '') && (!hasValue(leaf.op) || leaf.value !== '');
  return (
    <fieldset className="quick">
      <legend>{t('filter-editor.quick')}</legend>
      <label>
        {t('filter-editor.what')}
        <select
          value={leaf.type}
          onChange={(event) =>
            set({ type: event.target.value as Leaf['type'], of: event.target.value === 'json' ? '$.' : '' })
          }
        >
          {LEAF_TYPES.map((type) => (
            <option key={type} value={type}>
              {t(`leaf.${type}`)}
            </option>
          ))}
        </select>
      </label>
      {subject !== null && (
        <label>
          {t(subject === 'path' ? 'filter-editor.path' : 'filter-editor.name')}
          <input
            value={leaf.of}
            size={14}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => set({ of: event.target.value })}
          />
        </label>
      )}
      <label>
        {t('filter-editor.op')}
        <select value={leaf.op} onChange={(event) => set({ op: event.target.value as Leaf['op'] })}>
          {OPERATORS.map((op) => (
            <option key={op} value={op}>
              {t(`op.${op}`)}
            </option>
          ))}
        </select>
      </label>
      {hasValue(leaf.op) && (
        <label>
          {t('filter-editor.value')}
          <input
            value={leaf.value}
            size={14}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => set({ value: event.target.value })}
          />
        </label>
      )}
      <button
        type="button"
        disabled={!isReady}
        onClick={() => {
          onAdd();
          set({ value: '' });
        }}
      >
        {t('filter-editor.add')}
      </button>
    </fieldset>
  );
}
