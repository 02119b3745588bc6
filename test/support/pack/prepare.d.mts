/** Packs the program that test servers run into one file, unless a pack of this build exists. */
export function preparePack(template: string): Promise<void>;
