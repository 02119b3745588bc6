import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionStatus,
  currentCompletions,
} from '@codemirror/autocomplete';
import { history } from '@codemirror/commands';
import { bracketMatching, codeFolding, foldGutter, indentUnit } from '@codemirror/language';
import { Annotation, EditorState, type Extension, Text } from '@codemirror/state';
import { EditorView, highlightSpecialChars, lineNumbers, type ViewUpdate } from '@codemirror/view';
import { t } from '../messages/t';
import { type CodeCompletion, completedText, completionPlace, offeredAt } from './completion';
import { type CodeFault, faultLine, setFault } from './fault-line';
import { editorKeys } from './keys';
import { type CodeLanguage, languageOf } from './languages';
import { mountStylesAsSheets } from './style-sheets';
import { changeBetween, type TextRange, withLineFeeds } from './text-change';
import { typedText } from './typed-text';

/** Content and callbacks of an editor. `language`, `isReadOnly` and the ids cannot change later. */
export interface EditorOptions {
  /** Ids of the editable element, of its label and of the notes that describe it. */
  id: string;
  labelId: string;
  notesId: string;
  value: string;
  language: CodeLanguage;
  isReadOnly: boolean;
  fault: CodeFault | null;
  completions: readonly CodeCompletion[];
  onChange: (value: string) => void;
  /** Called on `Ctrl+Enter`. */
  onRun: (() => void) | undefined;
  /** Called with the number of completions when the list of completions opens or changes, and with null when it closes. */
  onFound: (count: number | null) => void;
}

const fromOutside = Annotation.define<boolean>();

mountStylesAsSheets();

/** CodeMirror in an element, with the value that React passes. */
export class CodeEditor {
  private readonly view: EditorView;
  /** Value that was last passed or reported. It can have other line breaks than the text of the editor. */
  private known: string;
  private found: number | null = null;

  constructor(
    parent: HTMLElement,
    private options: EditorOptions,
    selected: TextRange | null,
  ) {
    this.known = options.value;
    const doc = Text.of(withLineFeeds(options.value).split('\n'));
    const [anchor, head] = [selected?.from ?? 0, selected?.to ?? 0].map((at) => Math.min(at, doc.length));
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc,
        selection: { anchor: anchor ?? 0, head: head ?? 0 },
        extensions: this.extensions(),
      }),
      ...(selected !== null && { scrollTo: EditorView.scrollIntoView(selected.to) }),
    });
    if (options.fault !== null) this.view.dispatch({ effects: setFault.of(options.fault) });
  }

  /** Takes over changed options. Replaces only the part of the text that differs. */
  update(options: EditorOptions): void {
    const { fault } = this.options;
    this.options = options;
    if (options.value !== this.known) {
      this.known = options.value;
      const changes = changeBetween(this.view.state.doc.toString(), withLineFeeds(options.value));
      this.view.dispatch({ changes, annotations: fromOutside.of(true) });
    }
    if (fault?.line !== options.fault?.line || fault?.message !== options.fault?.message)
      this.view.dispatch({ effects: setFault.of(options.fault) });
  }

  focus(): void {
    this.view.focus();
  }

  /** Inserts a text into JSON at the caret, as a string. Inside of a string, replaces the string's content. */
  insert(text: string): void {
    const { main } = this.view.state.selection;
    const place = completionPlace(this.view.state.doc.toString(), main.head);
    const { from, to } = place === null || place.opens ? main : place;
    const insert = place === null ? JSON.stringify(text) : completedText(place, text);
    this.view.dispatch({
      changes: { from, to, insert },
      selection: { anchor: from + insert.length },
      scrollIntoView: true,
      userEvent: 'input',
    });
    this.focus();
  }

  /** Moves the caret to the start of a line, and scrolls the line into the middle. */
  selectLine(number: number): void {
    const { doc } = this.view.state;
    const { from } = doc.line(Math.min(number, doc.lines));
    this.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    this.focus();
  }

  destroy(): void {
    this.view.destroy();
  }

  private extensions(): Extension {
    const { id, labelId, notesId, language, isReadOnly } = this.options;
    return [
      editorKeys(() => this.run()),
      typedText,
      language === 'text' ? [] : [lineNumbers(), foldGutter({ openText: '▾', closedText: '▸' })],
      isReadOnly ? [] : autocompletion({ override: [this.complete], icons: false, interactionDelay: 0 }),
      languageOf(language),
      faultLine,
      codeFolding({ placeholderDOM: (_view, unfold) => foldedText(unfold) }),
      history(),
      bracketMatching(),
      indentUnit.of('  '),
      highlightSpecialChars(),
      EditorState.tabSize.of(2),
      EditorState.readOnly.of(isReadOnly),
      EditorState.phrases.of(phrases()),
      EditorView.contentAttributes.of({
        id,
        // Browsers focus editable elements without it. Tools that check accessibility need it.
        tabindex: '0',
        'aria-labelledby': labelId,
        'aria-describedby': notesId,
      }),
      EditorView.updateListener.of((update) => this.report(update)),
    ];
  }

  private run(): boolean {
    const { onRun } = this.options;
    onRun?.();
    return onRun !== undefined;
  }

  private readonly complete = ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const { language, completions } = this.options;
    if (completions.length === 0) return null;
    const offered = offeredAt(language, { text: state.doc.toString(), caret: pos, isExplicit: explicit }, completions);
    // Updates an open list at each key press, so that Enter always inserts the selected completion.
    return offered && { ...offered, filter: false, update: (_result, _from, _to, context) => this.complete(context) };
  };

  private report({ state, docChanged, transactions }: ViewUpdate): void {
    if (docChanged && !transactions.some((transaction) => transaction.annotation(fromOutside))) {
      this.known = state.doc.toString();
      this.options.onChange(this.known);
    }
    const found = completionStatus(state) === 'active' ? currentCompletions(state).length : null;
    if (found === this.found) return;
    this.found = found;
    this.options.onFound(found);
  }
}

/** Returns the element in place of folded text. It reacts to the press, because an update can lose the click. */
function foldedText(unfold: (event: Event) => void): HTMLElement {
  const element = document.createElement('span');
  element.className = 'cm-foldPlaceholder';
  element.textContent = '…';
  element.title = t('code.unfold');
  element.setAttribute('aria-label', t('code.folded'));
  element.addEventListener('mousedown', unfold);
  return element;
}

/** Returns CodeMirror's texts in the language of the console. */
function phrases(): Record<string, string> {
  return {
    Completions: t('code.suggestions'),
    'Control character': t('code.control-character'),
    'Fold line': t('code.fold'),
    'Unfold line': t('code.unfold'),
    'Folded lines': t('code.folded-lines'),
    'Unfolded lines': t('code.unfolded-lines'),
    to: t('code.to'),
    'Selection deleted': t('code.selection-deleted'),
  };
}
