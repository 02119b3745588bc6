const OPEN = new Set<string>();

/**
 * Class of a body, or of a part of one: keys that its schema does not know are accepted. The handler decides how to
 * treat them. Controller: its operations without a body ignore one.
 */
export function AllowUnknownFields(): ClassDecorator {
  return (target) => void OPEN.add(target.name);
}

/** Whether the schema or the controller of this name is such a class. */
export const allowsUnknownFields = (name: string): boolean => OPEN.has(name);
