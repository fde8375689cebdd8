import { describe, expect, it } from '@jest/globals';
import { ToolRejected } from '../tool/tool.js';
import { ERROR_KINDS, verdictFor } from './verdict.decisions.js';

const thrown = (error: unknown) => verdictFor({ on: 'exception', error });
const carried = (code: string) => verdictFor({ on: 'result', result: { error: { code } } });

describe('the verdict on an error', () => {
  it.each(ERROR_KINDS)('%s is the same, thrown and in a result', (kind) => {
    expect(thrown(Object.assign(new Error('x'), { code: kind }))).toEqual(carried(kind));
    expect(carried(kind)?.kind).toBe(kind);
  });

  it.each([
    ['a refusal the tool is sure of', new ToolRejected('order_closed', 'the order is closed'), 'REJECTED', 'none'],
    ['a refusal of a kind that is known', new ToolRejected('RATE_LIMITED', 'slow down'), 'RATE_LIMITED', 'none'],
    ['a server that says it had no effect', new ToolRejected('SERVER', 'rolled back'), 'SERVER', 'none'],
    [
      'a connection nobody took',
      Object.assign(new Error('x'), { cause: Object.assign(new Error('y'), { code: 'ECONNREFUSED' }) }),
      'TRANSIENT_NETWORK',
      'none',
    ],
    ['a connection that broke', Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'TRANSIENT_NETWORK', 'unknown'],
    ['a deadline', new DOMException('late', 'TimeoutError'), 'TIMEOUT', 'unknown'],
    ['a gateway that gave up', Object.assign(new Error('x'), { status: 504 }), 'TIMEOUT', 'unknown'],
    ['a broken server', Object.assign(new Error('x'), { statusCode: 503 }), 'SERVER', 'unknown'],
    [
      'a server that answered, and could not reach another',
      Object.assign(new Error('x'), {
        status: 500,
        cause: Object.assign(new Error('y'), { code: 'ECONNREFUSED' }),
      }),
      'SERVER',
      'unknown',
    ],
    [
      'a connection nobody took, of a library that says status 0',
      Object.assign(new Error('x'), { status: 0, code: 'ECONNREFUSED' }),
      'TRANSIENT_NETWORK',
      'none',
    ],
    ['an error nobody understands', new Error('socket hang up'), 'UNKNOWN', 'unknown'],
    ['something that is no error', 'no', 'UNKNOWN', 'unknown'],
  ])('on %s', (_name, error, kind, effect) => {
    expect(thrown(error)).toEqual({ kind, effect });
  });

  it.each([400, 401, 403, 412, 422, 429])('rules an effect out by the status %i', (status) => {
    expect(thrown(Object.assign(new Error('x'), { status }))?.effect).toBe('none');
    expect(thrown(Object.assign(new Error('x'), { cause: { statusCode: status } }))?.effect).toBe('none');
    expect(verdictFor({ on: 'result', result: { ok: false, status } })?.effect).toBe('none');
  });

  it.each([402, 404, 405, 408, 409, 410, 413, 418, 423, 425, 428, 451, 499])(
    'rules none out by the status %i, which an effect may have gone before',
    (status) => {
      const verdict = { kind: status === 408 ? 'TIMEOUT' : 'UNKNOWN', effect: 'unknown' };
      expect(thrown(Object.assign(new Error('x'), { status }))).toEqual(verdict);
      expect(verdictFor({ on: 'result', result: { ok: false, status } })).toEqual(verdict);
    },
  );

  it.each(['IDEMPOTENCY_KEY_IN_USE', 'DUPLICATE_REQUEST', 'IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_CONFLICT'])(
    'rules none out where a key was used before: %s, unless the tool says so itself',
    (code) => {
      expect(carried(code)).toEqual({ kind: 'IDEMPOTENCY_CONFLICT', effect: 'unknown' });
      expect(thrown(Object.assign(new Error('x'), { code, status: 400 }))).toEqual(carried(code));
      expect(thrown(new ToolRejected(code, 'another call has it, and had no effect'))).toEqual({
        kind: 'IDEMPOTENCY_CONFLICT',
        effect: 'none',
      });
    },
  );

  it.each([
    [{ error_code: 'idempotency-key-reused' }, 'IDEMPOTENCY_CONFLICT'],
    [{ ok: false, code: 'content_filter' }, 'CONTENT_FILTER'],
    [{ error: 'rate limit exceeded' }, 'RATE_LIMITED'],
    [{ isError: true, content: [] }, 'UNKNOWN'],
    [{ error: { status: 412 } }, 'EVIDENCE_STALE'],
    [{ error_code: '05' }, 'UNKNOWN'],
    [{ error_code: 5 }, 'UNKNOWN'],
    [{ ok: false, error_code: '00' }, 'UNKNOWN'],
  ])('reads %o as %s', (result, kind) => {
    expect(verdictFor({ on: 'result', result })?.kind).toBe(kind);
  });

  it.each([
    [{ refund_id: 'rf', error: null }],
    [{ refund_id: 'rf', error: '' }],
    [{ refund_id: 'rf', error_code: '' }],
    [{ refund_id: 'rf', error_code: '0' }],
    [{ refund_id: 'rf', error_code: '00', error: null }],
    [{ refund_id: 'rf', error_code: 0, error: 0 }],
    [{ refund_id: 'rf', error_code: 'none', error: 'OK' }],
    [[]],
    ['text'],
    [{ status: 500, code: 'A' }],
  ])('has none on %o', (result) => {
    expect(verdictFor({ on: 'result', result })).toBeNull();
  });

  it.each([
    ['none', { errors: [{ message: 'Must provide query string.' }] }, 'UNKNOWN'],
    ['none but null', { errors: [{ message: 'no', extensions: { code: 'FORBIDDEN' } }], data: null }, 'POLICY_DENIED'],
    ['of no field', { errors: [{ message: 'x', path: ['refund'] }], data: { refund: null } }, 'UNKNOWN'],
  ])('is that of the errors where a GraphQL answer has data %s, and rules no effect out', (_data, result, kind) => {
    expect(verdictFor({ on: 'result', result })).toEqual({ kind, effect: 'unknown' });
  });

  it.each([
    [{ errors: [{ message: 'no total' }], data: { refund: { id: 'rf' }, total: null } }],
    [{ errors: [], data: null }],
    [{ errors: null }],
    [{ errors: ['line 3 is too long'], checked: true }],
    [{ errors: [{ line: 3 }] }],
  ])('is none where something was answered beside, or no error is one of GraphQL: %o', (result) => {
    expect(verdictFor({ on: 'result', result })).toBeNull();
  });

  it('survives an error that is its own cause', () => {
    const error: Error & { cause?: unknown } = new Error('x');
    error.cause = error;
    expect(thrown(error)?.kind).toBe('UNKNOWN');
  });
});
