const OPEN = new Set<string>();

/**
 * Class decorator.
 *
 * - On the class of a body or of a nested object: unknown fields are accepted, and the handler decides how to treat
 * them.
 * - On a controller: operations that take no body ignore a body that is sent.
 */
export function AllowUnknownFields(): ClassDecorator {
  return (target) => void OPEN.add(target.name);
}

export const allowsUnknownFields = (name: string): boolean => OPEN.has(name);
