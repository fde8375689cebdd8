// What the search of an address may hold.
import * as z from 'zod/mini';

/** A name that somebody chose. The longest is that of a run, 512 octets; a service that holds them to less says so itself. */
export const NAME = z.string().check(z.maxLength(512));
