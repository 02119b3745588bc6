import pg from 'pg';

/** Members of a node-postgres query. `test/api/shared-commit.e2e-spec.ts` fails if a release renames them. */
interface Part {
  readonly name?: string;
  readonly text?: string;
  submit(wire: Wire): Error | null;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
  handleReadyForQuery(wire: Wire): void;
}

interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  readonly submittedNamedStatements: Record<string, string>;
  sync(): void;
}

type Callback = (error: Error | null, results?: pg.QueryResult[]) => void;

/**
 * Sends several statements in one packet and commits all of them or none. Omits the `Sync` after each statement, which
 * would end the transaction (PostgreSQL's protocol, "Pipelining"). `Pool.query` resolves to their results after the
 * commit, and rejects with the first error.
 */
export class PipelinedTransaction {
  /** node-postgres sets this callback. */
  callback: Callback | undefined;
  private readonly parts: readonly Part[];
  private readonly results: pg.QueryResult[] = [];
  private failure: Error | null = null;
  private at = 0;

  constructor(statements: readonly pg.QueryConfig[]) {
    this.parts = statements.map(
      (statement) =>
        new pg.Query(statement, statement.values, (error, result) => {
          if (error) this.failure ??= error;
          else this.results.push(result);
        }) as unknown as Part,
    );
  }

  /** Name of the statement whose response is being read. node-postgres uses it to record parsed statements. */
  get name(): string | undefined {
    return this.parts[this.at]?.name;
  }

  get text(): string | undefined {
    return this.parts[this.at]?.text;
  }

  submit(wire: Wire): Error | null {
    const withoutEnd = Object.assign(Object.create(wire) as Wire, { sync: () => undefined });
    wire.stream.cork();
    try {
      for (const part of this.parts) part.submit(withoutEnd);
    } finally {
      wire.sync();
      wire.stream.uncork();
    }
    return null;
  }

  handleRowDescription(message: unknown): void {
    this.parts[this.at]?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.parts[this.at]?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, wire: Wire): void {
    this.parts[this.at]?.handleCommandComplete(message, wire);
    this.at += 1;
  }

  handleReadyForQuery(wire: Wire): void {
    for (const part of this.parts) part.handleReadyForQuery(wire);
    if (this.failure) this.callback?.(this.failure);
    else this.callback?.(null, this.results);
  }

  /**
   * After a failed statement, the server skips the remaining statements and does not prepare them. The next call must
   * send their SQL text again.
   */
  handleError(error: Error, wire: Wire): void {
    for (const { name } of this.parts.slice(this.at))
      if (name !== undefined) delete wire.submittedNamedStatements[name];
    this.callback?.(error);
  }
}
