export function dtoSchemas(folder: string): Promise<Record<string, Record<string, unknown>>>;
