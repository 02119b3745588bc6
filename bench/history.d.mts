/** The fields of a run that its line in the history needs. */
export interface Entry {
  date: string;
  options: { spin: number };
  commit: string;
  isDirty: boolean;
  machine: { name: string };
  against: { commit: string; isDirty: boolean } | null;
  rounds: Record<string, object[]>;
  comparisons: readonly {
    name: string;
    reference: string;
    rate: { ratio: number; verdict: string };
    cpu: { ratio: number; verdict: string };
  }[];
}

export declare function historyOf(entries: readonly Entry[], row: string): string;
export declare function readHistory(): Entry[];
export declare function remember(entry: object): Promise<void>;
