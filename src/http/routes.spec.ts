import { Body, Controller, Delete, Get, Patch, Post, Put, Query } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { ApiBody, ApiExcludeEndpoint } from '@nestjs/swagger';
import { Public, Scope } from './access.js';
import { TakesForm } from './form-parser.js';
import { Idempotent } from './idempotent.js';
import { checkRoutes, listRoutes, type RouteHandler } from './routes.js';
import { AllowUnknownFields } from './unknown-fields.js';

class BodyDto {}
class QueryDto {}

@Controller('things')
class Things {
  @Post()
  @Scope('write')
  @Idempotent()
  createThing(@Body() body: BodyDto): BodyDto {
    return body;
  }

  @Get()
  @Scope('read')
  listThings(@Query() query: QueryDto): QueryDto {
    return query;
  }

  @Get('open')
  @Public()
  showThing(@Query('part') part: string): string {
    return part;
  }

  helper(): void {}
}

@Controller('bare')
class Bare {
  @Get()
  listBare(): void {}
}

@Controller('twin')
class Twin {
  @Get()
  @Public()
  listThings(): void {}
}

@Controller('odd')
class Odd {
  @Get()
  @Public()
  @Idempotent()
  getOdd(): void {}
}

function routesOf(...controllers: object[]): RouteHandler[] {
  const module = { controllers: new Map(controllers.map((metatype) => [metatype, { metatype }])) };
  return listRoutes(new Map([['m', module]]) as unknown as ModulesContainer);
}

it('lists every handler with its method, body class and query class', () => {
  const routes = routesOf(Things);

  expect(routes.map(({ name, method, body, query }) => [name, method, body, query])).toEqual([
    ['createThing', 'POST', BodyDto, null],
    ['listThings', 'GET', null, QueryDto],
    ['showThing', 'GET', null, null],
  ]);
});

@Controller('bodiless')
class Bodiless {
  @Delete()
  removeNothing(): void {}

  @Post('stop')
  stopNothing(): void {}

  @Get()
  getNothing(): void {}

  @Put()
  putAnything(@Body() body: unknown): unknown {
    return body;
  }

  @Patch()
  patchPart(@Body('part') part: string): string {
    return part;
  }

  @Post('read')
  @ApiBody({ schema: { type: 'object' } })
  readRequest(): void {}

  @Post('hidden')
  @ApiExcludeEndpoint()
  readHidden(): void {}

  @Post('form')
  @TakesForm()
  readForm(): void {}
}

@AllowUnknownFields()
@Controller('open')
class Open {
  @Delete()
  removeOpen(): void {}
}

it('marks operations without a body in the document', () => {
  const routes = routesOf(Bodiless, Open, Things);

  expect(routes.filter(({ isBodiless }) => isBodiless).map(({ name }) => name)).toEqual([
    'removeNothing',
    'stopNothing',
  ]);
});

it('accepts a complete set of routes', () => {
  expect(() => checkRoutes(routesOf(Things))).not.toThrow();
});

it.each([
  ['a route that does not declare its access', Bare, 'Bare.listBare needs @Scope'],
  ['two routes with the same name', Twin, 'Twin.listThings and Things.listThings need different names'],
  ['an idempotency key on a method other than POST', Odd, 'Odd.getOdd is @Idempotent() but not a POST'],
])('stops the start for %s', (_, controller, message) => {
  expect(() => checkRoutes(routesOf(Things, controller))).toThrow(message);
});
