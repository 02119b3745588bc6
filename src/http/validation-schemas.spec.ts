import 'reflect-metadata';
import type { INestApplication, Type } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiExtraModels, ApiProperty, OmitType, PartialType } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { Type as NestedType } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsCreditCard,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNumber,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { buildInputs } from './openapi.js';
import type { RouteHandler } from './routes.js';
import { compileChecks } from './schemas.js';
import {
  CanBeNull,
  CanBeOmitted,
  IsArrayOf,
  IsDateTime,
  IsObjectOf,
  IsStringMap,
  MatchesSchema,
} from './validation.js';

class LineBody {
  @IsInt() @Min(1) quantity: number;
}

class OrderBody {
  @IsString() @Length(2, 5) @Matches(/^[a-z/]+$/u) name: string;
  @IsIn(['low', 'high']) @CanBeOmitted() priority?: string;
  @IsOptional() @MaxLength(3) note?: string | null;
  @CanBeNull() @IsBoolean() paid: boolean | null;
  @IsNumber() @Max(9.5) weight: number;
  @IsArray() @ArrayMinSize(1) @ArrayMaxSize(2) @ArrayUnique() @IsString({ each: true }) tags: string[];
  @IsArrayOf(() => LineBody) @ArrayMaxSize(2) lines: LineBody[];
  @IsObjectOf(() => LineBody) @IsOptional() gift?: LineBody | null;
  @ValidateNested({ each: true }) @NestedType(() => LineBody) @CanBeOmitted() extras?: LineBody[];
  @IsDateTime() @CanBeOmitted() at?: string;
  @IsStringMap() @CanBeOmitted() headers?: Record<string, string>;
  @MatchesSchema({ oneOf: [{ type: 'string' }, { type: 'integer' }] }) code: unknown;
}

class ShortOrderBody extends OmitType(OrderBody, ['lines', 'code']) {
  @IsString() @CanBeOmitted() override name: string;
  @ApiProperty({ example: 'x' }) @IsString() added: string;
}

class OrderChangesBody extends PartialType(LineBody, { skipNullProperties: false }) {}

class CardBody {
  @IsCreditCard() card: string;
}

class StrictBody {
  @IsNotEmpty() @Length(3, 256) @MaxLength(5) name: string;
  @Length(1, 4) @IsNotEmpty() note: string;
  @Min(1) @Min(3) @IsInt() @Max(9) @Max(4) count: number;
  @IsNotEmpty() text: string;
}

class Routes {
  handle(): void {}
}

let app: INestApplication;

beforeAll(async () => {
  app = (await Test.createTestingModule({}).compile()).createNestApplication(new FastifyAdapter());
});

afterAll(() => app.close());

function routeOf(body: Type): RouteHandler {
  return { controller: Routes, name: 'handle', config: {}, body, query: null } as RouteHandler;
}

function schemaOf(type: Type): { properties: Record<string, object>; required?: string[] } {
  return buildInputs(app, [routeOf(type)]).components?.schemas?.[type.name] as never;
}

function faultsOf(type: Type, body: object): string[] {
  const route = routeOf(type);
  const inputs = buildInputs(app, [route]);
  compileChecks(inputs, [route], () => inputs);
  try {
    route.config.checkBody?.(body, null);
    return [];
  } catch (error) {
    return (error as { details: { fields: { path: string }[] } }).details.fields.map(({ path }) => path);
  }
}

it('describes a class that has only class-validator decorators, without @ApiProperty and without a compiler plugin', () => {
  const { properties, required } = schemaOf(OrderBody);

  expect(required).toEqual(['name', 'paid', 'weight', 'tags', 'lines', 'code']);
  expect(properties).toEqual({
    name: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z/]+$' },
    priority: { type: 'string', enum: ['low', 'high'] },
    note: { type: ['string', 'null'], maxLength: 3 },
    paid: { type: ['boolean', 'null'] },
    weight: { type: 'number', maximum: 9.5 },
    tags: { type: 'array', minItems: 1, maxItems: 2, uniqueItems: true, items: { type: 'string' } },
    lines: { type: 'array', maxItems: 2, items: { $ref: '#/components/schemas/LineBody' } },
    gift: { anyOf: [{ $ref: '#/components/schemas/LineBody' }, { type: 'null' }] },
    extras: { type: 'array', items: { $ref: '#/components/schemas/LineBody' } },
    at: { type: 'string', format: 'date-time' },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    code: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
  });
});

it('checks the fields of such a class, and rejects fields that it does not have', () => {
  const order = { name: 'ab', paid: null, weight: 1, tags: ['a'], lines: [{ quantity: 1 }], code: 7 };

  expect(faultsOf(OrderBody, order)).toEqual([]);
  expect(faultsOf(OrderBody, { ...order, note: null, gift: null })).toEqual([]);
  expect(faultsOf(OrderBody, { ...order, lines: [{ quantity: 0 }], other: 1, at: '2026-01-31' })).toEqual([
    'other',
    'lines.0.quantity',
    'at',
  ]);
});

it('describes inherited fields, fields that a class declares again, and fields of mapped types', () => {
  const { properties, required } = schemaOf(ShortOrderBody);

  expect(required).toEqual(['paid', 'weight', 'tags', 'added']);
  expect(Object.keys(properties)).not.toContain('lines');
  expect(properties).toMatchObject({
    name: { type: 'string' },
    note: { type: ['string', 'null'], maxLength: 3 },
    added: { type: 'string', example: 'x' },
  });
});

it('describes the fields of a partial type as optional, with null only if the type allows it', () => {
  expect(schemaOf(OrderChangesBody)).toEqual({
    type: 'object',
    properties: { quantity: { type: 'integer', minimum: 1 } },
  });
  expect(faultsOf(OrderChangesBody, {})).toEqual([]);
  expect(faultsOf(OrderChangesBody, { quantity: null })).toEqual(['quantity']);
});

it('applies the strictest of several limits, in whatever order the decorators are written', () => {
  expect(schemaOf(StrictBody).properties).toEqual({
    name: { type: 'string', minLength: 3, maxLength: 5 },
    note: { type: 'string', minLength: 1, maxLength: 4 },
    count: { type: 'integer', minimum: 3, maximum: 4 },
    text: { type: 'string', minLength: 1 },
  });
  expect(faultsOf(StrictBody, { name: 'abc', note: 'n', count: 3, text: 'x' })).toEqual([]);
  expect(faultsOf(StrictBody, { name: 'ab', note: '', count: 2, text: '' })).toEqual(['name', 'note', 'count', 'text']);
});

it('stops the start for a class that a body refers to by name only, if decorators have to run', () => {
  class RefersBody {
    @ApiProperty({ oneOf: [{ $ref: '#/components/schemas/CardBody' }, { type: 'string' }] }) card: unknown;
  }
  ApiExtraModels(CardBody)(Routes);

  expect(() => buildInputs(app, [routeOf(RefersBody)])).toThrow(
    'CardBody.card: a schema refers to the class by name, so its decorators do not run.',
  );
});
