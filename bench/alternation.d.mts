export declare function orderOf<T>(contestants: readonly T[], round: number): T[];
export declare function pairsOf<T extends { name: string; round: number; half: number }>(
  slices: readonly T[],
  name: string,
  reference: string,
): [T, T][];
