import './menu.css';
import { type KeyboardEvent, type ReactNode, type ToggleEvent, useEffect, useId, useRef, useState } from 'react';
import { Icon } from '../icon/Icon';

export interface MenuItem {
  label: string;
  onSelect: () => void;
}

const GAP_PX = 4;
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** Button that opens the actions of a row. `name` is the accessible name, and includes the row's name. */
export function RowMenu({ name, items }: { name: string; items: readonly MenuItem[] }): ReactNode {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  useCloseOnScroll(list, isOpen);
  const select = ({ onSelect }: MenuItem): void => {
    list.current?.hidePopover();
    // Focuses the button before a dialog opens, because the dialog returns the focus to this element when it closes.
    button.current?.focus();
    onSelect();
  };
  const place = ({ newState }: ToggleEvent<HTMLDivElement>): void => {
    if (newState === 'open' && button.current !== null && list.current !== null) moveTo(list.current, button.current);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className="row-menu-button"
        popoverTarget={id}
        aria-haspopup="menu"
        aria-label={name}
        title={name}
      >
        <Icon name="more" />
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={name}
        className="row-menu"
        onBeforeToggle={place}
        onToggle={(event) => {
          // Places the menu again, because its height is known only after it is open.
          place(event);
          setOpen(event.newState === 'open');
        }}
        onKeyDown={moveFocus}
      >
        {items.map((item, index) => (
          <button
            key={item.label}
            ref={index === 0 ? focusOnOpen : undefined}
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => select(item)}
          >
            {item.label}
          </button>
        ))}
      </div>
    </>
  );
}

/** Closes the menu when the page scrolls, because the menu does not move with its row. */
function useCloseOnScroll(list: { current: HTMLElement | null }, isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    const close = (): void => list.current?.hidePopover();
    addEventListener('scroll', close, { capture: true, passive: true });
    return () => removeEventListener('scroll', close, { capture: true });
  }, [list, isOpen]);
}

/** Moves the menu below its button, or above the button if there is no space below. */
function moveTo(list: HTMLElement, button: HTMLElement): void {
  const { top, bottom, right } = button.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const below = bottom + GAP_PX;
  const hasSpace = below + list.offsetHeight <= clientHeight;
  list.style.top = `${hasSpace ? below : Math.max(GAP_PX, top - GAP_PX - list.offsetHeight)}px`;
  list.style.right = `${clientWidth - right}px`;
}

/** Makes the browser focus an element when it opens the popover. React would focus the element when it mounts. */
function focusOnOpen(element: HTMLElement | null): void {
  element?.setAttribute('autofocus', '');
}

function itemsOf(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>('[role=menuitem]')];
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const items = itemsOf(event.currentTarget);
  const at = items.findIndex((item) => item === document.activeElement);
  const step = STEPS[event.key];
  if (step !== undefined) items[(at + step + items.length) % items.length]?.focus();
  else if (event.key === 'Home') items[0]?.focus();
  else if (event.key === 'End') items.at(-1)?.focus();
  else if (event.key === 'Tab') event.currentTarget.hidePopover();
  else return;
  if (event.key !== 'Tab') event.preventDefault();
}
