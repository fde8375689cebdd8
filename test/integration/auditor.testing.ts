// Where the built programs are.
export { root as pinnedRoot } from '../../scripts/lib/paths.mjs';
