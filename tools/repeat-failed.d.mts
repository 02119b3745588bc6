/** The fields of the output of `jest --json` that are used. */
export interface TestRun {
  readonly wasInterrupted: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

export declare const REPEATED_MAX: number;
export declare function plan(results: TestRun): { repeat: string[]; refused: string | null };
export declare function failuresOf(results: TestRun): string[];
export declare function messagesOf(results: TestRun): string[];
