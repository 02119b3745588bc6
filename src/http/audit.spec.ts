import { Controller, Get, Post, Put, type Type, UseInterceptors } from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { type ModulesContainer, Reflector } from '@nestjs/core';
import { Public, Scope } from './access.js';
import { AuditInterceptor } from './audit.interceptor.js';
import { Audit, auditRoutes } from './audit.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { Idempotent } from './idempotent.js';
import { handlerOf, listRoutes, type RouteHandler } from './routes.js';

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

@Controller('v1/undeclared')
class Undeclared {
  @Post()
  @Scope('write')
  @Idempotent()
  createUndeclared(): void {}
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

/** The interceptor that `auditRoutes` attaches to routes without `@Audit()`. */
const INTERCEPTOR = Object.create(AuditInterceptor.prototype) as AuditInterceptor;

function interceptorsOf(controller: Type): Record<string, unknown> {
  const routes = routesOf(controller);
  auditRoutes(routes, INTERCEPTOR);
  const reflector = new Reflector();
  return Object.fromEntries(
    routes.map((route) => [route.name, reflector.get<unknown>(INTERCEPTORS_METADATA, handlerOf(route))]),
  );
}

it('audits declared routes inside their idempotency key, and adds nothing to reads, traffic and public routes', () => {
  expect(interceptorsOf(Things)).toEqual({
    listThings: undefined,
    createThing: [IdempotencyInterceptor, AuditInterceptor],
    tryThing: undefined,
    sendThing: undefined,
    signIn: undefined,
  });
});

it('audits a route that may change data and declares no mode, inside its idempotency key', () => {
  expect(interceptorsOf(Undeclared)).toEqual({ createUndeclared: [IdempotencyInterceptor, INTERCEPTOR] });
});

it.each([
  ['its idempotency key', Outside, 'Outside.createOutside needs @Audit() above its other interceptors'],
  ['an interceptor of its own', Mapped, 'Mapped.createMapped needs @Audit() above its other interceptors'],
])('stops the start for a route whose audit runs around %s', (_, controller, message) => {
  expect(() => auditRoutes(routesOf(controller), INTERCEPTOR)).toThrow(message);
});
