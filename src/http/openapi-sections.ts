import { ApiTags } from '@nestjs/swagger';

const DESCRIPTIONS = new Map<string, string>();

/** Class of a controller: the section of the documentation that its routes stand in. Controllers may share one. */
export function Section(name: string, description: string): ClassDecorator {
  return (target) => {
    const known = DESCRIPTIONS.get(name);
    if (known !== undefined && known !== description) throw new Error(`Section ${name} has two descriptions (${target.name}).`);
    DESCRIPTIONS.set(name, description);
    ApiTags(name)(target);
  };
}

/** What a section is about. */
export const sectionDescription = (name: string): string | undefined => DESCRIPTIONS.get(name);
