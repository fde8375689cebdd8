// How the process ends once a call has its answer.

/** What the process ends with; specs give another. */
export interface Ending {
  readonly streams: readonly NodeJS.WritableStream[];
  readonly exit: (code: number) => void;
}

const OF_PROCESS: Ending = {
  streams: [process.stdout, process.stderr],
  exit: (code) => {
    process.exit(code);
  },
};

/**
 * Ends the process as soon as everything that was said is written.
 *
 * Shape:  what is still under way, such as connecting to a broker that takes no connections, is not waited for.
 */
export async function endProcess(code: number, { streams, exit }: Ending = OF_PROCESS): Promise<void> {
  await Promise.all(streams.map(written));
  exit(code);
}

/** Resolves once what was written to a stream has left it, or cannot leave it any more. */
function written(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => {
      resolve();
    });
  });
}
