// Free ports on 127.0.0.1. A recorded port is taken again when nobody else has it meanwhile.
import { createServer } from 'node:net';

/** Every listener of the stack. */
export interface StackPorts {
  readonly kafka: number;
  readonly controller: number;
  readonly registry: number;
  readonly registryManagement: number;
  readonly postgres: number;
}

export const PORT_NAMES = [
  'kafka',
  'controller',
  'registry',
  'registryManagement',
  'postgres',
] as const satisfies readonly (keyof StackPorts)[];

/**
 * Reserves different free ports for the names, each its preferred one when that is free.
 *
 * Shape:   the listeners are held until all are chosen, so no two names get the same port.
 * Errors:  none of its own; a port can still be lost before its program binds it, so a start is tried twice.
 */
export async function choosePorts<Name extends string>(
  names: readonly Name[],
  preferred: Partial<Record<Name, number>> = {},
): Promise<Record<Name, number>> {
  const held: { readonly name: Name; readonly port: number; close(): Promise<void> }[] = [];
  try {
    for (const name of names) {
      const wish = preferred[name];
      held.push({ name, ...((wish === undefined ? null : await hold(wish)) ?? (await holdAny())) });
    }
    // Object.fromEntries forgets the key type; every name was just pushed once.
    return Object.fromEntries(held.map(({ name, port }) => [name, port])) as Record<Name, number>;
  } finally {
    await Promise.all(held.map((one) => one.close()));
  }
}

interface HeldPort {
  readonly port: number;
  close(): Promise<void>;
}

async function holdAny(): Promise<HeldPort> {
  const held = await hold(0);
  if (held === null) throw new Error('found no free port on 127.0.0.1; end programs that hold many ports');
  return held;
}

/** Binds the port; null when somebody else has it. */
function hold(port: number): Promise<HeldPort | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(null);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve({
        port: bound,
        close: () =>
          new Promise((closed) => {
            server.close(() => {
              closed();
            });
          }),
      });
    });
  });
}
