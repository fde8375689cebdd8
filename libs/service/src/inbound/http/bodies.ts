// Bodies that the edges take: JSON in UTF-8, sent plain. Whatever else is refused with what is wrong about it.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { JSON_DEPTH_MAX, readJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { codingProblem } from '../../edge/body-rules.js';
import { EdgeRefusal } from '../../edge/problem.js';
import { utf8Of } from './utf8.js';

/** A body without one of these has no member that speaks of prototypes, however its name is escaped. */
const MAY_SPEAK_OF_PROTOTYPES = /__proto__|"constructor"|\\u00/iu;

/** Takes bodies of one media type and no coding; every other is refused with 415 before it is read. */
export function takeBodies(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, _reply, done) => {
    refuseCodings(request.headers['content-encoding']);
    done();
  });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    try {
      done(null, readBody(body));
    } catch (error) {
      done(error as Error); // readBody throws nothing else
    }
  });
}

/** Errors: EdgeRefusal(CODING_UNSUPPORTED). */
function refuseCodings(header: string | undefined): void {
  const problem = codingProblem(header);
  if (problem !== null) throw new EdgeRefusal('CODING_UNSUPPORTED', problem);
}

/** Errors: EdgeRefusal(REQUEST_REFUSED, INPUT_TOO_DEEP, INPUT_INVALID). */
function readBody(bytes: Buffer): Json {
  const text = utf8Of(bytes);
  if (text === '') throw new EdgeRefusal('REQUEST_REFUSED', 'the body is empty, and application/json is none');
  const value = jsonOf(text);
  const path = MAY_SPEAK_OF_PROTOTYPES.test(text) ? prototypeIn(value) : null;
  if (path === null) return value;
  const message = 'A member that would be the prototype of an object is not taken: leave it out.';
  throw new EdgeRefusal('INPUT_INVALID', `${path}: ${message}`, [{ code: 'MEMBER_NOT_TAKEN', message, path }]);
}

function jsonOf(text: string): Json {
  try {
    return readJson(text);
  } catch (cause) {
    if (cause instanceof SyntaxError)
      throw new EdgeRefusal('REQUEST_REFUSED', 'the body is not valid JSON', [], { cause });
    if (cause instanceof RangeError)
      throw new EdgeRefusal('INPUT_INVALID', `the body has ${cause.message}`, [], { cause });
    const detail = `the body has more than ${JSON_DEPTH_MAX} levels inside each other`;
    throw new EdgeRefusal('INPUT_TOO_DEEP', detail, [], { cause });
  }
}

/** Where a member stands that code which copies objects takes for a prototype; null for nowhere. No deeper than JSON is read. */
function prototypeIn(value: Json, path = ''): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const at = `${path}/${name}`;
    if (name === '__proto__') return at;
    if (name === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype'))
      return `${at}/prototype`;
    const inside = prototypeIn(member, at);
    if (inside !== null) return inside;
  }
  return null;
}
