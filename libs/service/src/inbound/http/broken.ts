// Requests that never became one: too slow, or no HTTP. Answered on the socket, since there is no reply for them.
import type { Socket } from 'node:net';
import { EDGE_REFUSALS, PROBLEM_TYPE } from '../../edge/problem.js';
import type { EdgeCode } from '../../edge/problem.js';

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
