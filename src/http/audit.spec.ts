import { Controller, Delete, Get, Post, Put, type Type, UseInterceptors } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { Public, Scope } from './access.js';
import { Audit, checkAudit } from './audit.js';
import { Idempotent } from './idempotent.js';
import { listRoutes, type RouteHandler } from './routes.js';

@Controller('v1/things')
class Things {
  @Get()
  @Scope('read')
  listThings(): void {}

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  createThing(): void {}

  @Put(':id')
  @Audit('never')
  @Scope('write')
  tryThing(): void {}

  @Post('traffic')
  @Scope('write')
  @Idempotent('accept')
  sendThing(): void {}

  @Post('open')
  @Public()
  signIn(): void {}
}

@Controller('v1/forgotten')
class Forgotten {
  @Delete()
  @Scope('write')
  removeThing(): void {}
}

@Controller('v1/outside')
class Outside {
  @Post()
  @Scope('write')
  @Idempotent()
  @Audit()
  createOutside(): void {}
}

class Mapping {
  intercept(): void {}
}

@Controller('v1/mapped')
class Mapped {
  @UseInterceptors(Mapping)
  @Post()
  @Audit()
  @Scope('write')
  createMapped(): void {}
}

function routesOf(controller: Type): RouteHandler[] {
  const module = { controllers: new Map([['c', { metatype: controller, instance: null }]]) };
  return listRoutes(new Map([['m', module]]) as unknown as ModulesContainer);
}

it('accepts routes that read, are audited, carry traffic, or need no key', () => {
  expect(() => checkAudit(routesOf(Things))).not.toThrow();
});

it.each([
  [
    'may change data and declares no audit mode',
    Forgotten,
    'Forgotten.removeThing may change data, so it needs @Audit()',
  ],
  ['audits around its idempotency key', Outside, 'Outside.createOutside needs @Audit() above its other interceptors'],
  [
    'audits around an interceptor of its own',
    Mapped,
    'Mapped.createMapped needs @Audit() above its other interceptors',
  ],
])('stops the start for a route that %s', (_, controller, message) => {
  expect(() => checkAudit(routesOf(controller))).toThrow(message);
});
