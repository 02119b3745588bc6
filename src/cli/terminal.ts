import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export interface Column<R> {
  title: string;
  value: (row: R) => string | number | boolean | null | undefined;
  style?: (row: R) => Style | null;
}

/** Text that is safe to print: control characters of untrusted values are removed. See `line` and `Terminal.paint`. */
export class Painted {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** Builds text to print, as in ``line`${id}` ``. Removes control characters from values that are not `Painted`. */
export function line(texts: TemplateStringsArray, ...values: readonly unknown[]): Painted {
  return new Painted(texts.map((text, i) => text + (i < values.length ? shown(values[i]) : '')).join(''));
}

/** Prints text for people or JSON for programs to standard output, and progress to standard error. */
export class Terminal {
  constructor(
    readonly isJson: boolean,
    private readonly out: NodeJS.WriteStream = process.stdout,
    private readonly err: NodeJS.WriteStream = process.stderr,
    private readonly env: NodeJS.ProcessEnv = process.env,
  ) {}

  /** Prints a text for people. Prints nothing in JSON mode. */
  say(text: string | Painted): void {
    if (!this.isJson) this.out.write(`${harmless(text)}\n`);
  }

  /** Prints one result: formatted text for people, one line of JSON for programs. */
  show(value: unknown, text: () => string | Painted = () => json(value, 2)): void {
    this.out.write(`${this.isJson ? json(value) : harmless(text())}\n`);
  }

  /** Prints a list: a table for people, an array for programs. */
  list<R>(rows: readonly R[], columns: readonly Column<R>[], empty: string): void {
    if (this.isJson) return void this.out.write(`${json(rows)}\n`);
    if (rows.length === 0) return void this.err.write(`${empty}\n`);
    const cells = rows.map((row) => columns.map(({ value }) => plain(value(row))));
    const widths = columns.map(({ title }, i) => Math.max(title.length, ...cells.map((line) => line[i]?.length ?? 0)));
    const joined = (texts: readonly string[], paint: (text: string, i: number) => Painted): string =>
      texts.map((text, i) => paint(i === texts.length - 1 ? text : text.padEnd(widths[i] ?? 0), i)).join('  ');
    this.out.write(
      `${joined(
        columns.map(({ title }) => title),
        (text) => this.paint('dim', text),
      )}\n`,
    );
    rows.forEach((row, n) =>
      this.out.write(`${joined(cells[n] ?? [], (text, i) => this.paint(columns[i]?.style?.(row) ?? null, text))}\n`),
    );
  }

  fields(value: unknown, fields: readonly (readonly [string, unknown])[]): void {
    const known = fields.filter(([, field]) => field !== null && field !== undefined && field !== '');
    const width = Math.max(...known.map(([name]) => name.length));
    this.show(
      value,
      () =>
        new Painted(
          known.map(([name, field]) => line`${this.paint('dim', name.padEnd(width))}  ${field}`.text).join('\n'),
        ),
    );
  }

  /** Prints progress and notices to standard error, where they do not disturb a program that reads the output. */
  progress(text: string): void {
    this.err.write(`${harmless(text)}\n`);
  }

  paint(style: Style | null, text: string): Painted {
    const colours = this.out.isTTY && (this.env['NO_COLOR'] ?? '') === '' && this.env['TERM'] !== 'dumb';
    // `validateStream` is off, because Node.js would check the colors of the process's own stream and not of
    // `this.out`.
    return new Painted(
      colours && style !== null ? styleText(style, plain(text), { validateStream: false }) : plain(text),
    );
  }
}

/**
 * Characters that a terminal executes or that change the reading order: C0, DEL and C1 (U+009B may act as an escape),
 * line separators, direction marks.
 */
const COMMANDS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Returns the value as one line without control characters, because payloads and names are untrusted. */
export function plain(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.replace(COMMANDS, ' ');
}

/** Removes control characters from a text, except line breaks and tabs. */
export function harmless(text: string | Painted): string {
  return text instanceof Painted
    ? text.text
    : text.replace(COMMANDS, (command) => (command === '\n' || command === '\t' ? command : ' '));
}

/** Returns the value as JSON. Control characters are escaped, so the JSON still represents the same value. */
export function json(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replace(COMMANDS, (command) =>
    command === '\n' ? command : `\\u${command.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const shown = (value: unknown): string => (value instanceof Painted ? value.text : plain(value));

export function statusStyle(status: string): Style | null {
  if (status === 'delivered' || status === 'verified' || status === 'active') return 'green';
  if (status === 'retrying' || status === 'parked' || status === 'pending-dns') return 'yellow';
  return status === 'ignored' ? null : 'red';
}
