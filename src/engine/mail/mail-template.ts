import Mustache from 'mustache';

/** Maximum depth of nested sections. */
const DEPTH_MAX = 8;
const TAGS_MAX = 2_000;
/** Maximum number of tokens that one rendering processes, because nested sections multiply the number of tokens. */
const STEPS_MAX = 50_000;
/** Maximum length of a rendered part: the maximum length of an email body. */
const CHARACTERS_MAX = 1_048_576;

/** Matches one tag at a position. No tag contains braces, so a search takes linear time. */
const TAG = /\{\{\{([^{}]{0,400})\}\}\}|\{\{([^{}]{0,400})\}\}/y;
/** Matches the rest of a line if the rest contains only white space. */
const LINE_END = /[ \t]*(?:\r?\n|$)/y;
const INNER = /^([#^/&]?)\s*(\.|[A-Za-z_]\w*(?:\.\w+)*)$/;
const NO_TAG =
  'is not a tag. The tags are {{name}}, {{{name}}}, {{#name}}…{{/name}}, {{^name}}…{{/name}} and {{! comment }}';

/**
 * Placeholders for the recipient's unsubscribe link. Rendering a template keeps them, because each email replaces them
 * with its own link.
 */
export const LINK_NAMES: readonly string[] = ['unsubscribe_url', 'RESEND_UNSUBSCRIBE_URL'];

/** Token as in Mustache's parser: type, and text or name. A section also has its position and its own tokens. */
type Token = [type: string, value: string, start?: number, end?: number, tokens?: Token[]];

export interface ParsedTemplate {
  tokens: Token[];
  /** Names of the variables in the tags. From a dotted name, only the part before the first dot. */
  names: ReadonlySet<string>;
  isHtml: boolean;
}

interface Tag {
  kind: '' | '#' | '^' | '/' | '&' | '!';
  name: string;
}

interface Span {
  at: number;
  end: number;
}

/** Thrown by `TemplateRendering` when a rendering exceeds the limits for work or output. */
export class RenderingTooLarge extends Error {}

/**
 * Parses a Mustache template. Does not support partials and changed delimiters. Replaces Mustache's own parser, which
 * takes quadratic time for tags with much white space, and creates an object for every character.
 */
export function parseTemplate(source: string, isHtml: boolean): ParsedTemplate | { fault: string } {
  const names = new Set<string>();
  const tree = new TokenTree();
  let end = 0;
  let tags = 0;
  for (let at = source.indexOf('{{'); at >= 0; at = source.indexOf('{{', end)) {
    const { tag, length } = readTag(source, at, isHtml);
    const fault = tag === null ? excerpt(source, at, NO_TAG) : (linkFault(tag) ?? tree.nestingFault(tag));
    if (tag === null || fault !== null) return { fault: `line ${lineOf(source, at)}: ${fault}` };
    if (++tags > TAGS_MAX) return { fault: `must have at most ${TAGS_MAX} tags` };
    if (tag.name !== '.' && tag.name !== '' && !isLink(tag)) names.add(rootOf(tag));
    const replaced = replacedBy(tag, source, { from: end, at, end: at + length });
    tree.addText(source.slice(end, replaced.at));
    tree.add(tag);
    end = replaced.end;
  }
  const open = tree.innermost();
  if (open !== undefined) return { fault: `the section ${open} has no {{/${open}}}` };
  tree.addText(source.slice(end));
  return { tokens: tree.root, names, isHtml };
}

const rootOf = ({ name }: Tag): string => name.split('.')[0] ?? '';
const isLink = (tag: Tag): boolean => LINK_NAMES.includes(rootOf(tag));

function linkFault(tag: Tag): string | null {
  if (!isLink(tag) || (LINK_NAMES.includes(tag.name) && (tag.kind === '' || tag.kind === '&'))) return null;
  return `${rootOf(tag)} is the unsubscribe link of the recipient: write {{${rootOf(tag)}}}`;
}

/** Tree of the tokens, in which a section contains the tokens between its tags. */
class TokenTree {
  readonly root: Token[] = [];
  private tokens = this.root;
  private readonly open: { name: string; tokens: Token[] }[] = [];

  innermost(): string | undefined {
    return this.open.at(-1)?.name;
  }

  nestingFault({ kind, name }: Tag): string | null {
    if ((kind === '#' || kind === '^') && this.open.length === DEPTH_MAX)
      return `sections must not be nested more than ${DEPTH_MAX} deep`;
    const last = this.innermost();
    if (kind !== '/' || last === name) return null;
    return last === undefined ? `{{/${name}}} closes no section` : `{{/${name}}} stands where {{/${last}}} must stand`;
  }

  addText(text: string): void {
    if (text !== '') this.tokens.push(['text', text]);
  }

  add({ kind, name }: Tag): void {
    if (kind === '!') return;
    if (isLink({ kind, name })) this.addText(`{{{${name}}}}`);
    else if (kind === '/') this.tokens = this.open.pop()?.tokens ?? this.root;
    else if (kind === '#' || kind === '^') {
      const inner: Token[] = [];
      this.tokens.push([kind, name, 0, 0, inner]);
      this.open.push({ name, tokens: this.tokens });
      this.tokens = inner;
    } else this.tokens.push([kind === '' ? 'name' : kind, name]);
  }
}

/**
 * Returns the part of the source that a tag replaces. A tag that prints nothing and is alone on its line replaces the
 * whole line.
 */
function replacedBy({ kind }: Tag, source: string, { from, at, end }: { from: number; at: number; end: number }): Span {
  if (kind === '' || kind === '&') return { at, end };
  let start = at;
  while (start > from && (source[start - 1] === ' ' || source[start - 1] === '\t')) start -= 1;
  LINE_END.lastIndex = end;
  const isAlone = (start === 0 || source[start - 1] === '\n') && LINE_END.test(source);
  return isAlone ? { at: start, end: LINE_END.lastIndex } : { at, end };
}

function readTag(source: string, at: number, isHtml: boolean): { tag: Tag | null; length: number } {
  TAG.lastIndex = at;
  const [all = '', raw, ordinary = ''] = TAG.exec(source) ?? [];
  const inner = (isHtml ? withoutReact(raw ?? ordinary) : (raw ?? ordinary)).trim();
  if (raw === undefined && inner.startsWith('!')) return { tag: { kind: '!', name: '' }, length: all.length };
  const [, kind, name] = INNER.exec(inner) ?? [];
  if (kind === undefined || name === undefined || (raw !== undefined && kind !== '')) return { tag: null, length: 0 };
  return { tag: { kind: raw === undefined ? (kind as Tag['kind']) : '&', name }, length: all.length };
}

/**
 * Reverts two changes that React makes to a tag when it renders a template's HTML: it inserts empty comments between
 * texts and expressions, and escapes `&`.
 */
function withoutReact(inner: string): string {
  return inner.replaceAll('<!-- -->', '').replaceAll('&amp;', '&');
}

function excerpt(source: string, at: number, message: string): string {
  return `"${source.slice(at, at + 30).replaceAll(/\s+/g, ' ')}" ${message}`;
}

const lineOf = (source: string, at: number): number => source.slice(0, at).split('\n').length;

/** One rendering of a template's parts with the same variables. */
export class TemplateRendering {
  /**
   * Names whose value is missing or null, each with the path of its first use, such as `lines[0].title`. Their tags are
   * left in the output.
   */
  readonly missing = new Map<string, string>();
  /** Names that the template prints although their value is a list or an object, each with the path of its first use. */
  readonly notText = new Map<string, string>();
  private steps = 0;

  constructor(private readonly variables: Readonly<Record<string, unknown>>) {}

  /** Returns the rendered part. Throws `RenderingTooLarge` if it exceeds a limit. */
  render({ tokens, isHtml }: ParsedTemplate): string {
    return new BoundedWriter(this, isHtml).renderTokens(tokens as string[][], new OwnFields(this.variables));
  }

  addSteps(count: number): void {
    this.steps += count;
    if (this.steps > STEPS_MAX) throw new RenderingTooLarge();
  }
}

/** Looks up only own fields of objects, so that no name can reach a prototype or a function. */
class OwnFields extends Mustache.Context {
  /** `path` is the path of the view in the variables: empty for the variables themselves. */
  constructor(
    view: unknown,
    private readonly path = '',
    parent?: OwnFields,
  ) {
    super(view, parent);
  }

  pushAt(path: string, view: unknown): OwnFields {
    return new OwnFields(view, path, this);
  }

  /** Returns the path of the value that `lookup` returns. A name without a value belongs to the innermost section. */
  pathOf(name: string): string {
    if (name === '.') return this.path;
    const [first = ''] = name.split('.');
    return this.ownerOf(first)?.pathBelow(name) ?? this.pathBelow(name);
  }

  private ownerOf(field: string): OwnFields | undefined {
    return hasOwn(this.view, field) ? this : (this.parent as OwnFields | undefined)?.ownerOf(field);
  }

  private pathBelow(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  override lookup(name: string): unknown {
    if (name === '.') return this.view;
    const [first = '', ...others] = name.split('.');
    if (!hasOwn(this.view, first) && this.parent !== undefined) return this.parent.lookup(name);
    return [first, ...others].reduce<unknown>(
      (value, part) => (hasOwn(value, part) ? (value as Record<string, unknown>)[part] : undefined),
      this.view,
    );
  }
}

function hasOwn(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

class BoundedWriter extends Mustache.Writer {
  private characters = 0;

  constructor(
    private readonly rendering: TemplateRendering,
    private readonly isHtml: boolean,
  ) {
    super();
  }

  override renderTokens(tokens: string[][], context: Mustache.Context): string {
    this.rendering.addSteps(tokens.length + 1);
    return super.renderTokens(tokens, context);
  }

  override renderSection([, name = '', , , inner]: string[], context: Mustache.Context): string {
    const value = context.lookup(name) as unknown;
    if (!value) return '';
    const tokens = inner as unknown as string[][];
    if (value === true) return this.renderTokens(tokens, context);
    const path = (context as OwnFields).pathOf(name);
    const inSection = (view: unknown, at: string): string =>
      this.renderTokens(tokens, (context as OwnFields).pushAt(at, view));
    return Array.isArray(value)
      ? value.map((item, i) => inSection(item, `${path}[${i}]`)).join('')
      : inSection(value, path);
  }

  override rawValue(token: string[]): string {
    return this.counted(super.rawValue(token));
  }

  override unescapedValue([, name = '']: string[], context: Mustache.Context): string {
    return this.counted(this.textOf(name, context));
  }

  override escapedValue([, name = '']: string[], context: Mustache.Context): string {
    const text = this.textOf(name, context);
    return this.counted(this.isHtml ? escaped(text) : text);
  }

  private textOf(name: string, context: Mustache.Context): string {
    const value = context.lookup(name) as unknown;
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    const names = this.rendering[value === undefined || value === null ? 'missing' : 'notText'];
    if (!names.has(name)) names.set(name, (context as OwnFields).pathOf(name));
    return `{{${name}}}`;
  }

  private counted(text: string): string {
    this.characters += text.length;
    if (this.characters > CHARACTERS_MAX) throw new RenderingTooLarge();
    return text;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML content and quoted attributes. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
