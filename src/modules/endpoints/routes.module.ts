import { Module } from '@nestjs/common';
import { EndpointRoutes } from './endpoint-routes.js';
import { EndpointsModule } from './endpoints.module.js';
import { RoutesController } from './routes.controller.js';

/** A separate module, because the OpenAPI document lists operations in the order of modules. */
@Module({
  imports: [EndpointsModule],
  controllers: [RoutesController],
  providers: [EndpointRoutes],
})
export class RoutesModule {}
