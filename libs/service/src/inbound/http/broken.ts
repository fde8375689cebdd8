// Requests that never reached a route: too slow or no HTTP, which is answered on the socket, since there is no reply for it; or with a
// path that the router does not take.
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EDGE_REFUSALS, EdgeRefusal, PROBLEM_TYPE, problemOf } from '../../edge/problem.js';
import type { EdgeCode } from '../../edge/problem.js';
import { hardenReply } from './hardening.js';

/** Answers what the router refuses before any hook or filter hears of it. */
export function answerUnrouted(
  { code: found }: { readonly code: string },
  _request: FastifyRequest,
  reply: FastifyReply,
): void {
  const code: EdgeCode = found === 'FST_ERR_MAX_PARAM_LENGTH' ? 'PATH_TOO_LONG' : 'REQUEST_REFUSED';
  const problem = problemOf(new EdgeRefusal(code, EDGE_REFUSALS[code].summary));
  hardenReply(reply);
  void reply.status(problem.status).type(PROBLEM_TYPE).send(JSON.stringify(problem));
}

/** Answers as a problem and closes the connection. */
export function answerBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const code: EdgeCode = isLate ? 'REQUEST_TOO_SLOW' : 'REQUEST_REFUSED';
  const { httpStatus: status, summary: title } = EDGE_REFUSALS[code];
  const body = JSON.stringify({ type: 'about:blank', title, status, code, detail: title });
  if (socket.writable)
    socket.write(
      `HTTP/1.1 ${String(status)} ${isLate ? 'Request Timeout' : 'Bad Request'}\r\nConnection: close\r\n` +
        `Content-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`,
    );
  socket.destroy();
}
