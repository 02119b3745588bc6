import { Module } from '@nestjs/common';
import { EndpointRoutes } from './endpoint-routes.js';
import { EndpointsModule } from './endpoints.module.js';
import { RoutesController } from './routes.controller.js';

/** A separate module, because the order of modules determines the order of operations in the OpenAPI document. */
@Module({
  imports: [EndpointsModule],
  controllers: [RoutesController],
  providers: [EndpointRoutes],
})
export class RoutesModule {}
