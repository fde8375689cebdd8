// How the process ends once a call has its answer, or nobody reads it any more.

/** What the process ends with; specs give another. */
export interface Ending {
  /** Standard output, then standard error. */
  readonly streams: readonly NodeJS.WritableStream[];
  readonly exit: (code: number) => void;
}

const OF_PROCESS: Ending = {
  streams: [process.stdout, process.stderr],
  exit: (code) => {
    process.exit(code);
  },
};

/** What a shell sees of a tool that nobody reads any more: 128 and the number of SIGPIPE. */
const UNREAD_CODE = 141;

/**
 * Ends the process as soon as everything that was said is written.
 *
 * Shape:  what is still under way, such as connecting to a broker that takes no connections, is not waited for.
 */
export async function endProcess(code: number, { streams, exit }: Ending = OF_PROCESS): Promise<void> {
  await Promise.all(streams.map(written));
  exit(code);
}

/**
 * Ends the process without a word when the reader of its answer has left, as `head` does: that is no error.
 *
 * Shape:  a reader who left standard error alone only misses what is said beside the answer; the call goes on.
 * Errors: every other error of a stream is thrown, and ends the process as it would have.
 */
export function endUnread({ streams: [out, ...beside], exit }: Ending = OF_PROCESS): void {
  out?.on('error', (error: NodeJS.ErrnoException) => {
    throwUnlessUnread(error);
    exit(UNREAD_CODE);
  });
  for (const stream of beside) stream.on('error', throwUnlessUnread);
}

function throwUnlessUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/** Resolves once what was written to a stream has left it, or cannot leave it any more. */
function written(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => {
      resolve();
    });
  });
}
