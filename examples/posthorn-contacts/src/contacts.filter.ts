import { Catch, type ExceptionFilter } from '@nestjs/common';
import { conflict } from 'posthorn';
import { QueryFailedError } from 'typeorm';

const UNIQUE_VIOLATION = '23505';

/** Converts the database's error for a duplicate name to a 409. Posthorn sends the error that a filter throws. */
@Catch(QueryFailedError)
export class DuplicateFilter implements ExceptionFilter<QueryFailedError> {
  catch(error: QueryFailedError): never {
    const { code } = error.driverError as { code?: string };
    throw code === UNIQUE_VIOLATION ? conflict('A contact with this name already exists.') : error;
  }
}
