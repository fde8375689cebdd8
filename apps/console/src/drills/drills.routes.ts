// /drills: what the last drills of workers showed. They run where the kit of the tool owner is, and write a file that is read here.
import type { FastifyInstance } from 'fastify';
import { lastDrills } from './drills.js';
import type { SessionOf } from '../sign-in/sign-in.routes.js';

export interface DrillParts {
  /** Undefined: this console is told of no file. */
  readonly file: string | undefined;
  readonly sessionOf: SessionOf;
}

export function addDrills(app: FastifyInstance, { file, sessionOf }: DrillParts): void {
  app.get('/drills', async (request) => {
    sessionOf(request);
    return file === undefined
      ? { isKept: false, items: [], unreadable: 0 }
      : { isKept: true, ...(await lastDrills(file)) };
  });
}
