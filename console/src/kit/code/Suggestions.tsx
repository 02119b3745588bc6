import { type CSSProperties, type ReactNode, useEffect, useRef } from 'react';
import { t } from '../messages/t';
import type { CodeCompletion } from './completion';

/** Props of `Suggestions`. */
interface SuggestionsProps {
  id: string;
  completions: readonly CodeCompletion[];
  chosen: number;
  /** Position below the caret. */
  style: CSSProperties;
  onPick: (completion: CodeCompletion) => void;
}

/** List of completions below the caret. The focus stays in the text area, which handles the keys of the list. */
export function Suggestions({ id, completions, chosen, style, onPick }: SuggestionsProps): ReactNode {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <ul id={id} ref={list} role="listbox" aria-label={t('code.suggestions')} className="code-suggestions" style={style}>
      {completions.map((each, index) => (
        <li
          key={each.text}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(each)}
        >
          <span>{each.text}</span>
          {each.detail !== undefined && <span className="quiet">{each.detail}</span>}
        </li>
      ))}
    </ul>
  );
}
