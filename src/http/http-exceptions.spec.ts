import {
  BadGatewayException,
  BadRequestException,
  ConflictException,
  ForbiddenException,
  GatewayTimeoutException,
  GoneException,
  HttpException,
  HttpVersionNotSupportedException,
  ImATeapotException,
  InternalServerErrorException,
  MethodNotAllowedException,
  MisdirectedException,
  NotAcceptableException,
  NotFoundException,
  NotImplementedException,
  PayloadTooLargeException,
  PreconditionFailedException,
  RequestTimeoutException,
  ServiceUnavailableException,
  UnauthorizedException,
  UnprocessableEntityException,
  UnsupportedMediaTypeException,
} from '@nestjs/common';
import type { ErrorType } from '#kernel/errors.js';
import { fromHttpException } from './http-exceptions.js';

const SENTENCE = 'The month is closed.';

describe('an exception of Nest', () => {
  it.each<[string, new (sentence: string) => HttpException, ErrorType]>([
    ['BadRequestException', BadRequestException, 'bad_request'],
    ['UnauthorizedException', UnauthorizedException, 'unauthenticated'],
    ['ForbiddenException', ForbiddenException, 'forbidden'],
    ['NotFoundException', NotFoundException, 'not_found'],
    ['MethodNotAllowedException', MethodNotAllowedException, 'method_not_allowed'],
    ['NotAcceptableException', NotAcceptableException, 'bad_request'],
    ['RequestTimeoutException', RequestTimeoutException, 'bad_request'],
    ['ConflictException', ConflictException, 'conflict'],
    ['GoneException', GoneException, 'not_found'],
    ['PreconditionFailedException', PreconditionFailedException, 'conflict'],
    ['PayloadTooLargeException', PayloadTooLargeException, 'payload_too_large'],
    ['UnsupportedMediaTypeException', UnsupportedMediaTypeException, 'unsupported_media_type'],
    ['ImATeapotException', ImATeapotException, 'bad_request'],
    ['MisdirectedException', MisdirectedException, 'bad_request'],
    ['UnprocessableEntityException', UnprocessableEntityException, 'validation_failed'],
    ['NotImplementedException', NotImplementedException, 'not_implemented'],
    ['BadGatewayException', BadGatewayException, 'unavailable'],
    ['ServiceUnavailableException', ServiceUnavailableException, 'unavailable'],
    ['GatewayTimeoutException', GatewayTimeoutException, 'unavailable'],
  ])('%s keeps its sentence', (_name, Exception, type) => {
    expect(fromHttpException(new Exception(SENTENCE))).toMatchObject({ type, message: SENTENCE });
  });

  it.each([
    ['InternalServerErrorException', new InternalServerErrorException('secret')],
    ['HttpVersionNotSupportedException', new HttpVersionNotSupportedException('secret')],
    ['an exception with a status of success', new HttpException('secret', 200)],
  ])('%s is unexpected: its sentence is for the log', (_name, exception) => {
    expect(fromHttpException(exception)).toBeNull();
  });

  it('without a sentence gets the text of its status', () => {
    expect(fromHttpException(new ForbiddenException())).toMatchObject({ message: 'Forbidden', details: {} });
    expect(fromHttpException(new BadRequestException([]))).toMatchObject({ message: 'Bad Request', details: {} });
  });

  it('passes on the other fields of an object in `details`', () => {
    const exception = new ConflictException({
      message: SENTENCE,
      error: 'Conflict',
      statusCode: 409,
      month: '2026-11',
    });

    expect(fromHttpException(exception)).toMatchObject({ message: SENTENCE, details: { month: '2026-11' } });
    expect(fromHttpException(new BadRequestException({ error: SENTENCE, month: 11 }))).toMatchObject({
      message: SENTENCE,
      details: { month: 11 },
    });
  });
});

describe('a list of sentences', () => {
  it.each([
    ['email must be an email', 'email'],
    ['email should not be empty', 'email'],
    ['each value in tags must be a string', 'tags'],
    ["All tags's elements must be unique", 'tags'],
    ['property admin should not exist', 'admin'],
    ['nested property address must be either object or array', 'address'],
    ['each value in nested property lines must be either object or array', 'lines'],
    ['address.lines.0.each value in words must be a string', 'address.lines.0.words'],
    ['address.property admin should not exist', 'address.admin'],
    ['Pick one of both.', ''],
    ['It must not end before it begins.', ''],
  ])('%s: the fault has the path that the sentence names', (sentence, path) => {
    expect(fromHttpException(new BadRequestException([sentence]))).toMatchObject({
      type: 'validation_failed',
      message: sentence,
      details: { check: 'schema', fields: [{ path, message: sentence }] },
    });
  });

  it('has every sentence in `details.fields`, of which the message names the first', () => {
    const error = fromHttpException(new UnprocessableEntityException(['a must be a string', 'b must be a string']));

    expect(error).toMatchObject({
      message: 'a must be a string (and 1 more, see details.fields)',
      details: {
        fields: [
          { path: 'a', message: 'a must be a string' },
          { path: 'b', message: 'b must be a string' },
        ],
      },
    });
  });

  it('has at most 50 faults, because the list may repeat the body of a hostile request', () => {
    const error = fromHttpException(new BadRequestException(Array.from({ length: 1000 }, () => 'a must be a string')));

    expect(error?.details['fields']).toHaveLength(50);
  });

  it('of another status keeps the type of its status', () => {
    expect(fromHttpException(new ConflictException(['One.', 'Two.']))).toMatchObject({
      type: 'conflict',
      message: 'One. Two.',
    });
  });

  it.each([
    ['sentences by path, from `errorFormat: "grouped"`', { message: { 'address.city': ['too long', 'too odd'] } }],
    [
      "class-validator's errors, from an `exceptionFactory`",
      [
        {
          property: 'address',
          children: [{ property: 'city', constraints: { a: 'too long', b: 'too odd' }, children: [] }],
        },
      ],
    ],
  ])('is also read from %s', (_form, response) => {
    expect(fromHttpException(new BadRequestException(response))?.details['fields']).toEqual([
      { path: 'address.city', message: 'too long' },
      { path: 'address.city', message: 'too odd' },
    ]);
  });
});
