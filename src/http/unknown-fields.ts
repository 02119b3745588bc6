const OPEN = new Set<string>();

/**
 * Class decorator.
 *
 * - On a body or a part of one: unknown fields are accepted, and the handler decides how to treat them.
 * - On a controller: operations that take no body ignore a body that is sent.
 */
export function AllowUnknownFields(): ClassDecorator {
  return (target) => void OPEN.add(target.name);
}

export const allowsUnknownFields = (name: string): boolean => OPEN.has(name);
