import 'reflect-metadata';
import type { INestApplication, Type } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiProperty } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { Type as NestedType } from 'class-transformer';
import {
  Allow,
  ArrayContains,
  ArrayNotContains,
  ArrayUnique,
  Contains,
  Equals,
  IsAlpha,
  IsAlphanumeric,
  IsArray,
  IsAscii,
  IsBase64,
  IsBIC,
  IsBooleanString,
  IsByteLength,
  IsCreditCard,
  IsCurrency,
  IsDataURI,
  IsDate,
  IsDateString,
  IsDecimal,
  IsDefined,
  IsDivisibleBy,
  IsEAN,
  IsEmail,
  IsEmpty,
  IsEnum,
  IsFQDN,
  IsHash,
  IsHexadecimal,
  IsHexColor,
  IsIBAN,
  IsIn,
  IsInt,
  IsIP,
  IsISBN,
  IsISO4217CurrencyCode,
  IsISO8601,
  IsISO31661Alpha2,
  IsJSON,
  IsJWT,
  IsLatitude,
  IsLatLong,
  IsLocale,
  IsLongitude,
  IsLowercase,
  IsMACAddress,
  IsMilitaryTime,
  IsMimeType,
  IsMobilePhone,
  IsMongoId,
  IsNegative,
  IsNotEmpty,
  IsNotEmptyObject,
  IsNotIn,
  IsNumber,
  IsNumberString,
  IsOptional,
  IsPhoneNumber,
  IsPort,
  IsPositive,
  IsPostalCode,
  IsRFC3339,
  IsSemVer,
  IsString,
  IsStrongPassword,
  IsTimeZone,
  IsUppercase,
  IsUrl,
  IsUUID,
  Length,
  Matches,
  MaxDate,
  MinDate,
  NotContains,
  NotEquals,
  registerDecorator,
  Validate,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { ApiError } from '#kernel/errors.js';
import { injectConstraints } from './decorator-check.js';
import { buildInputs } from './openapi.js';
import type { RouteHandler } from './routes.js';
import { compileChecks } from './schemas.js';
import { IsArrayOf, IsObjectOf } from './validation.js';

enum Colour {
  Red = 'red',
  Blue = 'blue',
}

@Injectable()
class TakenNames {
  async has(name: string): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve));
    return name === 'ada';
  }
}

@Injectable()
@ValidatorConstraint({ name: 'nameIsFree', async: true })
class NameIsFree implements ValidatorConstraintInterface {
  constructor(private readonly names: TakenNames) {}

  async validate(name: string): Promise<boolean> {
    return !(await this.names.has(name));
  }

  defaultMessage(): string {
    return 'This name is taken.';
  }
}

@ValidatorConstraint({ name: 'isEven' })
class IsEvenConstraint implements ValidatorConstraintInterface {
  validate(value: unknown, { constraints }: ValidationArguments): boolean {
    return typeof value === 'number' && value % (constraints[0] as number) === 0;
  }

  defaultMessage(): string {
    return '$property must be a multiple of $constraint1';
  }
}

function Same(other: string): PropertyDecorator {
  return (target, propertyName) =>
    registerDecorator({
      name: 'same',
      target: target.constructor,
      propertyName: propertyName as string,
      validator: {
        validate: (value, args) => value === (args?.object as Record<string, unknown>)[other],
      },
    });
}

const throwing = (error: unknown): PropertyDecorator =>
  ValidateBy({
    name: 'throwing',
    validator: {
      validate: () => {
        throw error;
      },
    },
  });

const rejecting = (): PropertyDecorator =>
  ValidateBy({ name: 'rejecting', validator: { validate: () => Promise.reject(new Error('The database is down.')) } });

let app: INestApplication;

beforeAll(async () => {
  const providers = [TakenNames, NameIsFree];
  app = (await Test.createTestingModule({ providers }).compile()).createNestApplication(new FastifyAdapter());
  injectConstraints(app.get(ModuleRef));
});

afterAll(() => app.close());

class Routes {
  handle(): void {}
}

function routeOf(types: { body?: Type; query?: Type }): RouteHandler {
  const route = { controller: Routes, name: 'handle', config: {}, body: null, query: null, ...types } as RouteHandler;
  const inputs = buildInputs(app, [route]);
  compileChecks(inputs, [route], () => inputs);
  return route;
}

const schemaOf = (type: Type): { properties: Record<string, object>; required?: string[] } =>
  buildInputs(app, [routeOf({ body: type })]).components?.schemas?.[type.name] as never;

async function refusalOf(run: () => Promise<unknown>): Promise<ApiError | null> {
  try {
    await run();
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** Runs the compiled check and then the decorators, in the order of an HTTP request. Returns the rejection, or null. */
function refusalOfBody(type: Type, body: object): Promise<ApiError | null> {
  const { config } = routeOf({ body: type });
  return refusalOf(async () => {
    const checked = config.checkBody?.(body, JSON.stringify(body));
    await config.runDecorators?.(checked, {});
  });
}

const faultsOf = async (type: Type, body: object): Promise<unknown> =>
  (await refusalOfBody(type, body))?.details['fields'] ?? [];

function bodyWith(...decorators: PropertyDecorator[]): Type {
  class FieldBody {
    declare field: unknown;
  }
  for (const decorate of decorators) decorate(FieldBody.prototype, 'field');
  ApiProperty({ type: String })(FieldBody.prototype, 'field');
  return FieldBody;
}

const UUID = '7b1f9f0e-6f5b-4c57-9d2e-0d6d2f0c3f10';
const JWT = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln';

// Common decorators from class-validator's README, each with the format that the OpenAPI document shows for it.
it.each<[string, PropertyDecorator, unknown, unknown, string?]>([
  ['IsDefined', IsDefined(), 'a', undefined],
  ['Equals', Equals('a'), 'a', 'b'],
  ['NotEquals', NotEquals('a'), 'b', 'a'],
  ['IsEmpty', IsEmpty(), '', 'a'],
  ['IsNotEmpty', IsNotEmpty(), 'a', ''],
  ['IsIn', IsIn(['a']), 'a', 'b'],
  ['IsNotIn', IsNotIn(['a']), 'b', 'a'],
  ['IsString', IsString(), 'a', 1],
  ['IsEnum', IsEnum(Colour), 'red', 'green'],
  ['IsDivisibleBy', IsDivisibleBy(5), 10, 11],
  ['Contains', Contains('a'), 'cat', 'dog'],
  ['NotContains', NotContains('a'), 'dog', 'cat'],
  ['IsAlpha', IsAlpha(), 'abc', 'ab1'],
  ['IsAlphanumeric', IsAlphanumeric(), 'ab1', 'a-1'],
  ['IsDecimal', IsDecimal(), '1.5', 'x'],
  ['IsAscii', IsAscii(), 'a', 'é'],
  ['IsBase64', IsBase64(), 'YWJj', '%'],
  ['IsByteLength', IsByteLength(1, 3), 'é', 'éé'],
  ['IsCreditCard', IsCreditCard(), '4111111111111111', '4111111111111112'],
  ['IsCurrency', IsCurrency(), '$10.50', 'ten'],
  ['IsISO4217CurrencyCode', IsISO4217CurrencyCode(), 'EUR', 'EURO'],
  ['IsDataURI', IsDataURI(), 'data:text/plain;base64,YQ==', 'a'],
  ['IsEmail', IsEmail(), 'ada@example.com', 'ada@', 'email'],
  ['IsEmail with a name', IsEmail({ allow_display_name: true }), 'Ada <ada@example.com>', 'Ada', 'email'],
  ['IsFQDN', IsFQDN(), 'example.com', 'example', 'hostname'],
  ['IsHexColor', IsHexColor(), '#ffcc00', 'red'],
  ['IsHexadecimal', IsHexadecimal(), 'ff', 'fg'],
  ['IsMACAddress', IsMACAddress(), '00:1b:44:11:3a:b7', '00'],
  ['IsIP', IsIP(), '::1', '1.2.3'],
  ['IsIP 4', IsIP('4'), '127.0.0.1', '::1', 'ipv4'],
  ['IsPort', IsPort(), '80', '70000'],
  ['IsISBN', IsISBN(), '9783161484100', '1'],
  ['IsEAN', IsEAN(), '4006381333931', '1'],
  ['IsIBAN', IsIBAN(), 'DE89370400440532013000', 'DE00'],
  ['IsBIC', IsBIC(), 'DEUTDEFF', 'D'],
  ['IsISO8601', IsISO8601(), '2026-01-31', 'today', 'date-time'],
  ['IsDateString', IsDateString(), '2026-01-31', 'today', 'date-time'],
  ['IsRFC3339', IsRFC3339(), '2026-01-31T12:00:00Z', '2026-01-31', 'date-time'],
  ['IsISO31661Alpha2', IsISO31661Alpha2(), 'DE', 'XX'],
  ['IsJSON', IsJSON(), '{}', '{'],
  ['IsJWT', IsJWT(), JWT, 'a.b'],
  ['IsLatLong', IsLatLong(), '52.5,13.4', 'Berlin'],
  ['IsLatitude', IsLatitude(), 52.5, 91],
  ['IsLongitude', IsLongitude(), '13.4', '200'],
  ['IsLocale', IsLocale(), 'de_DE', '1'],
  ['IsLowercase', IsLowercase(), 'a', 'A'],
  ['IsUppercase', IsUppercase(), 'A', 'a'],
  ['IsMilitaryTime', IsMilitaryTime(), '23:59', '24:00'],
  ['IsMimeType', IsMimeType(), 'text/plain', 'text'],
  ['IsMobilePhone', IsMobilePhone('de-DE'), '+4915112345678', '1'],
  ['IsPhoneNumber', IsPhoneNumber('DE'), '030 901820', '1'],
  ['IsMongoId', IsMongoId(), '507f1f77bcf86cd799439011', '5'],
  ['IsNumberString', IsNumberString(), '12', 12],
  ['IsBooleanString', IsBooleanString(), 'true', true],
  ['IsPostalCode', IsPostalCode('DE'), '10178', '1'],
  ['IsSemVer', IsSemVer(), '1.2.3', '1'],
  ['IsStrongPassword', IsStrongPassword(), 'aB3$aB3$', 'password'],
  ['IsTimeZone', IsTimeZone(), 'Europe/Berlin', 'Berlin'],
  ['IsUrl', IsUrl(), 'https://example.com/a', 'a', 'uri'],
  ['IsUUID', IsUUID(), UUID, 'x', 'uuid'],
  ['IsHash', IsHash('md5'), 'd41d8cd98f00b204e9800998ecf8427e', 'd4'],
  ['Matches twice', (target, name) => [/^a/, /b$/].forEach((each) => Matches(each)(target, name)), 'ab', 'a'],
  ['Matches with a flag', Matches(/^a+$/iu), 'AA', 'b'],
  ['IsNumber with decimals', IsNumber({ maxDecimalPlaces: 2 }), 1.25, 1.255],
  ['IsPositive', IsPositive(), 0.1, 0],
  ['IsNegative', IsNegative(), -1, 0],
  ['IsNotEmptyObject', IsNotEmptyObject(), { a: 1 }, {}],
  ['ArrayContains', ArrayContains(['a']), ['b', 'a'], ['b']],
  ['ArrayNotContains', ArrayNotContains(['a']), ['b'], ['a']],
  [
    'ArrayUnique of an identifier',
    ArrayUnique((each: { id: number }) => each.id),
    [{ id: 1 }],
    [{ id: 1, a: 1 }, { id: 1 }],
  ],
  ['Validate', Validate(IsEvenConstraint, [2]), 4, 3],
  ['Validate, asynchronously', Validate(NameIsFree), 'grace', 'ada'],
  ['a group', IsString({ groups: ['create'] }), 'a', 1],
  ['IsString with a condition', IsString({ validateIf: (_object, value) => value !== 7 }), 7, 8],
])('%s: accepts and refuses what class-validator does', async (_name, decorator, accepted, refused, ...[format]) => {
  const type = bodyWith(decorator);

  expect(await faultsOf(type, { field: accepted })).toEqual([]);
  expect(await faultsOf(type, { field: refused })).toEqual([{ path: 'field', message: expect.any(String) }]);
  expect(schemaOf(type).properties['field']).toMatchObject(format === undefined ? {} : { type: 'string', format });
});

class AddressBody {
  @IsPostalCode('DE') postal_code: string;
  @ApiProperty({ type: String, required: false }) city?: string;
}

class CardBody {
  @IsCreditCard() number: string;
}

class CustomerBody {
  @IsEmail() email: string;
  @IsUUID('4', { each: true }) @IsArray() ids: string[];
  @IsString() @Length(1, 5) name: string;
  @IsArrayOf(() => AddressBody) addresses: AddressBody[];
  @ValidateIf(({ kind }: CustomerBody) => kind === 'card') @IsObjectOf(() => CardBody) card?: CardBody;
  @IsOptional() @IsIn(['card', 'cash']) kind?: string;
}

const customer = {
  email: 'ada@example.com',
  ids: [UUID],
  name: 'Ada',
  addresses: [{ postal_code: '10178', city: 'Berlin' }],
};

it('describes the fields of such a class, and requires those that cannot be missing', () => {
  const { properties, required } = schemaOf(CustomerBody);

  expect(required).toEqual(['email', 'ids', 'name', 'addresses']);
  expect(properties).toMatchObject({
    email: { type: 'string', format: 'email' },
    ids: { type: 'array', items: { type: 'string', format: 'uuid' } },
    name: { type: 'string', minLength: 1, maxLength: 5 },
    addresses: { type: 'array', items: { $ref: '#/components/schemas/AddressBody' } },
  });
});

it('reports the path of each fault, in nested objects and lists too', async () => {
  expect(await faultsOf(CustomerBody, customer)).toEqual([]);
  expect(
    await faultsOf(CustomerBody, {
      ...customer,
      email: 'ada',
      ids: ['x'],
      addresses: [...customer.addresses, { postal_code: '1' }],
    }),
  ).toEqual([
    { path: 'email', message: 'must be an email' },
    { path: 'ids', message: 'each value must be a UUID' },
    { path: 'addresses.1.postal_code', message: 'must be a postal code' },
  ]);
});

it('reports a missing field', async () => {
  expect(await faultsOf(CustomerBody, { ...customer, email: undefined })).toEqual([
    { path: 'email', message: 'must be an email' },
  ]);
});

it('checks what schemas express first: the decorators do not run for a body that breaks its schema', async () => {
  expect(await faultsOf(CustomerBody, { ...customer, email: 'ada', name: '', addresses: [{ town: 'x' }] })).toEqual([
    { path: 'name', message: 'must not be empty' },
    { path: 'addresses.0.town', message: 'is not known here' },
  ]);
});

it('a condition decides whether the other decorators of its field run, with unknown fields of a nested object', async () => {
  expect(await faultsOf(CustomerBody, { ...customer, kind: 'cash', card: 7 })).toEqual([]);
  expect(await faultsOf(CustomerBody, { ...customer, kind: 'card', card: { number: '1', pin: 1 } })).toEqual([
    { path: 'card.pin', message: 'is not known here' },
    { path: 'card.number', message: 'must be a credit card' },
  ]);
  expect(await faultsOf(CustomerBody, { ...customer, kind: 'card' })).toEqual([
    { path: 'card', message: 'must be an object' },
  ]);
});

class WarehouseBody {
  @ValidateNested() @IsNotEmptyObject() address: AddressBody;
}

it('adds the missing @Type() of a nested object, because its decorators would not run otherwise', async () => {
  expect(await faultsOf(WarehouseBody, { address: { postal_code: '1' } })).toEqual([
    { path: 'address.postal_code', message: 'must be a postal code' },
  ]);
});

class EventBody {
  @IsDate() @MinDate(new Date('2026-01-01')) @MaxDate(new Date('2027-01-01')) @NestedType(() => Date) at: Date;
}

it('converts with @Type() for the decorators, and does not change the body', async () => {
  const { config } = routeOf({ body: EventBody });
  const body = { at: '2026-06-01T00:00:00Z' };

  await config.runDecorators?.(config.checkBody?.(body, null), {});

  expect(body).toEqual({ at: '2026-06-01T00:00:00Z' });
  expect(await faultsOf(EventBody, { at: '2025-06-01T00:00:00Z' })).toEqual([
    { path: 'at', message: expect.stringMatching(/^minimal allowed date for at is /) },
  ]);
  expect(schemaOf(EventBody).properties['at']).toMatchObject({ type: 'string', format: 'date-time' });
});

class SignUpBody {
  @IsString({ message: 'Choose a password.' }) password: string;
  @Same('password') repeated: string;
}

it('uses the message of a decorator, and a sentence for a decorator without one', async () => {
  expect(await faultsOf(SignUpBody, { password: 'a', repeated: 'a' })).toEqual([]);
  expect(await faultsOf(SignUpBody, { password: 1, repeated: 'a' })).toEqual([
    { path: 'password', message: 'Choose a password.' },
    { path: 'repeated', message: 'is not valid' },
  ]);
});

class PageQuery {
  @IsOptional() @IsInt() @IsDivisibleBy(10) limit?: number;
  @IsEmail() from: string;
}

it('400: a query is converted to the types of the document before the decorators run', async () => {
  const { config } = routeOf({ query: PageQuery });
  const check = (query: object): Promise<ApiError | null> =>
    refusalOf(async () => config.runDecorators?.({}, config.checkQuery?.(query)));

  expect(config.checkQuery?.({ limit: '20', from: 'ada@example.com' })).toEqual({ limit: 20, from: 'ada@example.com' });
  expect(await check({ limit: '20', from: 'ada@example.com' })).toBeNull();
  expect(await check({ limit: '15', from: 'ada@example.com' })).toMatchObject({
    type: 'bad_request',
    message: 'limit must be divisible by 10.',
    details: { fields: [{ path: 'limit', message: 'must be divisible by 10' }] },
  });
});

it('rejects with the error that a decorator throws, even if another decorator rejects too', async () => {
  class BrokenBody {
    @rejecting() first: string;
    @throwing(new Error('a bug')) second: string;
  }
  class DownBody {
    @rejecting() first: string;
    @rejecting() second: string;
  }

  await expect(refusalOfBody(BrokenBody, { first: 'a', second: 'b' })).rejects.toThrow('a bug');
  await expect(refusalOfBody(DownBody, { first: 'a', second: 'b' })).rejects.toThrow('The database is down.');
});

it('422: a body that is nested deeper than the libraries can follow', async () => {
  class OpenBody {
    @IsEmail() email: string;
    @Allow() anything: unknown;
  }
  let anything: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) anything = [anything];
  const { config } = routeOf({ body: OpenBody });

  const refusal = await refusalOf(async () => config.runDecorators?.({ email: 'ada@example.com', anything }, {}));

  expect(refusal?.details['fields']).toEqual([{ path: '', message: 'The body is nested too deeply.' }]);
});

it('reports at most 50 faults', async () => {
  const addresses = Array.from({ length: 80 }, () => ({ postal_code: '1' }));

  expect(await faultsOf(CustomerBody, { ...customer, addresses })).toHaveLength(50);
});

it('does nothing for classes whose decorators the schemas express', () => {
  class PlainBody {
    @IsString() @Length(1, 5) name: string;
    @IsPositive() @IsInt() count: number;
  }

  expect(routeOf({ body: PlainBody }).config.runDecorators).toBeUndefined();
  expect(routeOf({ body: CustomerBody }).config.runDecorators).toBeInstanceOf(Function);
});
