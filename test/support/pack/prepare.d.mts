/** Makes the pack that the tests' servers start from, unless there is one of this build. */
export function preparePack(template: string): Promise<void>;
