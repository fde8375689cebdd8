// A worker of its own process, so that it can be killed: its tools ask a till over HTTP, which outlives it.
//
// Shape: one argument, JSON: where everything is, a token, a folder for its state, and the address of the till.
import { connect } from '@recourse/sdk';
import type { ConnectOptions, Tool } from '@recourse/sdk';

interface Told extends Omit<ConnectOptions, 'name' | 'environment' | 'token'> {
  readonly token: string;
  readonly till: string;
  /** Capabilities by adapter. */
  readonly adapters: Readonly<Record<string, readonly string[]>>;
}

const { token, till, adapters, ...places } = JSON.parse(process.argv[2] ?? '{}') as Told; // written by the spec that starts it

/** A tool that has the till do it. Errors: what the till does not answer in time, or answers with an error. */
function toolAt(capability: string): Tool {
  return async (args, { phase, idempotencyKey }) => {
    const answer = await fetch(`${till}/${capability}`, {
      method: 'POST',
      body: JSON.stringify({ args, phase, key: idempotencyKey }),
    });
    if (!answer.ok) throw new Error(`the till answered ${String(answer.status)}`);
    return (await answer.json()) as Awaited<ReturnType<Tool>>; // JSON is what tools answer
  };
}

const recourse = await connect({
  name: 'till-worker',
  environment: { RECOURSE_WIRES: 'open' },
  token: () => Promise.resolve(token),
  ...places,
});
for (const [adapter, capabilities] of Object.entries(adapters))
  await recourse.worker({
    adapter,
    capabilities: Object.fromEntries(capabilities.map((name) => [name, toolAt(name)])),
  });
