const OPEN = new Set<string>();

/**
 * Class decorator.
 *
 * - On the class of a body or of a nested object: accepts unknown fields, which the handler may use or ignore.
 * - On a controller: operations without a body ignore a body that is sent.
 */
export function AllowUnknownFields(): ClassDecorator {
  return (target) => void OPEN.add(target.name);
}

export const allowsUnknownFields = (name: string): boolean => OPEN.has(name);
