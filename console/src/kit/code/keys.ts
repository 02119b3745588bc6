import { acceptCompletion } from '@codemirror/autocomplete';
import { defaultKeymap, historyKeymap, indentMore } from '@codemirror/commands';
import { foldKeymap, indentUnit, toggleFold } from '@codemirror/language';
import { type Extension, Prec } from '@codemirror/state';
import { type Command, EditorView, keymap } from '@codemirror/view';

/**
 * Keys of the editor. After Escape, Tab moves the focus, so that keyboard users can leave the field. `run` handles
 * `Ctrl+Enter`, and returns false if the key has no meaning.
 */
export function editorKeys(run: () => boolean): Extension {
  let isLeaving = false;
  const leave: Command = () => {
    // The first Escape is handled here and keeps a dialog open. The second Escape closes it.
    if (isLeaving) return false;
    isLeaving = true;
    return true;
  };
  const indent: Command = (view) => {
    if (isLeaving || view.state.readOnly) return false;
    if (!view.state.selection.main.empty) return indentMore(view);
    view.dispatch(view.state.replaceSelection(view.state.facet(indentUnit)), {
      scrollIntoView: true,
      userEvent: 'input',
    });
    return true;
  };
  return [
    Prec.highest(
      EditorView.domEventHandlers({
        focus: () => {
          isLeaving = false;
        },
        keydown: ({ key }) => {
          if (!['Escape', 'Shift', 'Tab'].includes(key)) isLeaving = false;
        },
      }),
    ),
    keymap.of([
      { key: 'Mod-Enter', run },
      { key: 'Tab', run: acceptCompletion },
      { key: 'Tab', run: indent },
      { key: 'Escape', run: leave },
      // Keyboards with brackets on the AltGr level, such as German ones, cannot type the keys of foldKeymap.
      { key: 'Mod-.', run: toggleFold },
      ...foldKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
  ];
}
