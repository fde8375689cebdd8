// The service that Restate calls: one durable step per effect.
import { createServer } from 'node:http2';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { serve, task } from '../worker-process.js';
import { peerModule } from './peer-modules.js';
import type { RestateTask } from './restate.engine.js';
import { openTools } from './tool-client.js';
import { actAll, Refused, takeAllBack } from './work.js';
import type { Durably, Variant } from './work.js';

interface Input {
  readonly run: string;
  readonly variant: Variant;
}
interface Context {
  run(name: string, work: () => Promise<void>): Promise<void>;
}
/** The part of the SDK that is used. */
interface RestateSdk {
  readonly TerminalError: new (message: string) => Error;
  service(definition: {
    readonly name: string;
    readonly handlers: Readonly<Record<string, (context: Context, input: Input) => Promise<void>>>;
  }): object;
  createEndpointHandler(options: {
    readonly services: readonly object[];
  }): (request: Http2ServerRequest, response: Http2ServerResponse) => void;
}

const { port, toolPort } = task<RestateTask>();
const { TerminalError, service, createEndpointHandler } = await peerModule<RestateSdk>('@restatedev/restate-sdk');
const { tools, gatePort } = await openTools(toolPort);

const durablyIn =
  (context: Context): Durably =>
  (name, work) =>
    context.run(name, () =>
      work().catch((cause: unknown) => {
        throw cause instanceof Refused ? new TerminalError(cause.message) : cause;
      }),
    );
const bench = service({
  name: 'bench',
  handlers: {
    recover: (context, { run, variant }) => takeAllBack(tools[variant], run, durablyIn(context)),
    saga: async (context, { run, variant }) => {
      try {
        await actAll(tools[variant], run, durablyIn(context));
      } catch (cause) {
        if (!(cause instanceof TerminalError)) throw cause;
        await takeAllBack(tools[variant], run, durablyIn(context));
      }
    },
  },
});
createServer(createEndpointHandler({ services: [bench] })).listen(port, '127.0.0.1', () => {
  serve({ gatePort }, () => Promise.resolve({}));
});
