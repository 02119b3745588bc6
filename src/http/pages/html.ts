/** A fragment of HTML that is safe to insert unchanged. Created only by `html`. */
export class Html {
  private constructor(private readonly text: string) {}

  static readonly empty = new Html('');

  static from(parts: readonly string[], values: readonly HtmlValue[]): Html {
    return new Html(parts.map((part, i) => part + (i < values.length ? textOf(values[i] as HtmlValue) : '')).join(''));
  }

  toString(): string {
    return this.text;
  }
}

/** Value in an HTML template: text and numbers are escaped, null renders as nothing, lists are concatenated. */
export type HtmlValue = string | number | null | Html | readonly HtmlValue[];

/** Tagged template that escapes its values. Safe only for element content and double-quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return Html.from(parts, values);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function textOf(value: HtmlValue): string {
  if (value === null) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(textOf).join('');
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
