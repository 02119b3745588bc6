import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** One column of a table. */
export interface Column<R> {
  title: string;
  value: (row: R) => string | number | boolean | null | undefined;
  style?: (row: R) => Style | null;
}

/** What is said to people goes to the terminal as text, what is said to programs as JSON; how far something is goes to the error stream. */
export class Terminal {
  constructor(
    readonly isJson: boolean,
    private readonly out: NodeJS.WriteStream = process.stdout,
    private readonly err: NodeJS.WriteStream = process.stderr,
    private readonly env: NodeJS.ProcessEnv = process.env,
  ) {}

  /** For people only. */
  say(line: string): void {
    if (!this.isJson) this.out.write(`${line}\n`);
  }

  /** One result: pretty for people, one line of JSON for programs. */
  show(value: unknown, text: () => string = () => JSON.stringify(value, null, 2)): void {
    this.out.write(`${this.isJson ? JSON.stringify(value) : text()}\n`);
  }

  /** A list: a table for people, an array for programs. */
  list<R>(rows: readonly R[], columns: readonly Column<R>[], empty: string): void {
    if (this.isJson) return void this.out.write(`${JSON.stringify(rows)}\n`);
    if (rows.length === 0) return void this.err.write(`${empty}\n`);
    const cells = rows.map((row) => columns.map(({ value }) => plain(value(row))));
    const widths = columns.map(({ title }, i) => Math.max(title.length, ...cells.map((line) => line[i]?.length ?? 0)));
    const line = (texts: readonly string[], paint: (text: string, i: number) => string): string =>
      texts.map((text, i) => paint(i === texts.length - 1 ? text : text.padEnd(widths[i] ?? 0), i)).join('  ');
    this.out.write(`${line(columns.map(({ title }) => title), (text) => this.paint('dim', text))}\n`);
    rows.forEach((row, n) => this.out.write(`${line(cells[n] ?? [], (text, i) => this.paint(columns[i]?.style?.(row) ?? null, text))}\n`));
  }

  /** Fields of one thing, under each other. */
  fields(value: unknown, fields: readonly (readonly [string, unknown])[]): void {
    const known = fields.filter(([, field]) => field !== null && field !== undefined && field !== '');
    const width = Math.max(...known.map(([name]) => name.length));
    this.show(value, () => known.map(([name, field]) => `${this.paint('dim', name.padEnd(width))}  ${plain(field)}`).join('\n'));
  }

  /** How far it is, and what is worth knowing besides: never in the way of a program. */
  progress(line: string): void {
    this.err.write(`${line}\n`);
  }

  paint(style: Style | null, text: string): string {
    const colours = this.out.isTTY && this.env['NO_COLOR'] === undefined && this.env['TERM'] !== 'dumb';
    return colours && style !== null ? styleText(style, text) : text;
  }
}

/** What a terminal would take for commands stays out of it: payloads and names come from strangers. */
function plain(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
   
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ');
}

/** The colour of a status. */
export function statusStyle(status: string): Style | null {
  if (status === 'delivered' || status === 'verified' || status === 'active') return 'green';
  if (status === 'retrying' || status === 'parked' || status === 'pending-dns') return 'yellow';
  return status === 'ignored' ? null : 'red';
}
