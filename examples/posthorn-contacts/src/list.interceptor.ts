import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';

/** Wraps a list in an object, like all lists of Posthorn's API. */
@Injectable()
export class ListInterceptor implements NestInterceptor<unknown[], { data: unknown[] }> {
  intercept(_context: ExecutionContext, next: CallHandler<unknown[]>): Observable<{ data: unknown[] }> {
    return next.handle().pipe(map((data) => ({ data })));
  }
}
