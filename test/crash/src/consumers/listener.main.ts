// A consumer of the crash runs as a process: hears of rollbacks, keeps what it heard, and dies when it is killed.
import { listenToFile } from './file-listener.js';
import { listenInGroup } from './group-listener.js';
import { listenWithInbox } from './inbox-listener.js';
import { LISTENER_KINDS, listenerOf } from './listener.js';
import type { Listener, ListenerKind } from './listener.js';

const LISTEN: Readonly<Record<ListenerKind, (listener: Listener) => Promise<void>>> = {
  inbox: listenWithInbox,
  file: listenToFile,
  group: listenInGroup,
};

const kind = LISTENER_KINDS.find((one) => one === process.env['KIND']);
if (kind === undefined) throw new Error(`KIND is one of ${LISTENER_KINDS.join(', ')}`);
await LISTEN[kind](listenerOf(process.env));
process.stdout.write('listening\n');
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    process.exit(0);
  });
