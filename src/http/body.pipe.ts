import { Injectable, type ArgumentMetadata, type PipeTransform, type Type } from '@nestjs/common';
import { Schemas } from './schemas.js';

/** Checks every `@Body() dto: SomeDto` (422) and `@Query() query: SomeDto` (400) against the schema of its class. */
@Injectable()
export class BodyPipe implements PipeTransform {
  constructor(private readonly schemas: Schemas) {}

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (metatype === undefined) return value;
    if (type === 'body') return this.schemas.checkBody(value, metatype as Type);
    return type === 'query' ? this.schemas.checkQuery(value, metatype as Type) : value;
  }
}
