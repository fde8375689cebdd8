// Five controls: those of one outcome of the harness audit.
import type { Line } from './probe.js';
import type { Scope } from './scope.js';

export type Five = readonly [Line<Scope>, Line<Scope>, Line<Scope>, Line<Scope>, Line<Scope>];
