// The tool over HTTP, as little of it as there may be: what it costs is taken from the engines on the same cores.
//
//   POST /act/<run>/<step>  200, or 409 refused        GET  /judge/<workload>  what the tool saw
//   POST /back/<run>/<step> 200                        POST /clear             forgets all of it
//   GET  /look/<run>/<step> 200 true | false
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import type { EffectBook } from './effect-book.js';
import type { Workload } from './work.js';

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Serves a book on 127.0.0.1; resolves with the port. */
export function serveTool(book: EffectBook, port = 0): Promise<number> {
  const server = createServer((socket) => {
    converse(book, socket);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function converse(book: EffectBook, socket: Socket): void {
  let unread = '';
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    unread += chunk.toString('latin1');
    let answers = '';
    for (let end = endOfRequest(unread); end > 0; end = endOfRequest(unread)) {
      answers += answerTo(book, unread.slice(unread.indexOf(' ') + 1, unread.indexOf(' HTTP/')));
      unread = unread.slice(end);
    }
    if (answers !== '') socket.write(answers);
  });
}

/** Where the first request ends, with its body; 0 while it is not all there. Pure. */
export function endOfRequest(text: string): number {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd < 0) return 0;
  const end = headEnd + HEAD_END.length + Number(LENGTH.exec(text.slice(0, headEnd))?.[1] ?? 0);
  return text.length < end ? 0 : end;
}

function answerTo(book: EffectBook, path: string): string {
  const [, what = '', run = '', step = ''] = path.split('/');
  switch (what) {
    case 'act':
      return book.act(run, Number(step)) ? response('200 OK', 'true') : response('409 Conflict', 'false');
    case 'back':
      book.takeBack(run, Number(step));
      return response('200 OK', 'true');
    case 'look':
      return response('200 OK', String(book.look(run, Number(step))));
    case 'judge':
      return response('200 OK', JSON.stringify(book.judge(run as Workload))); // the bench asks for nothing else
    case 'clear':
      book.clear();
      return response('200 OK', 'true');
    default:
      return response('404 Not Found', 'null');
  }
}

function response(status: string, body: string): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`;
}
