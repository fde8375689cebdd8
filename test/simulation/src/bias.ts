// How the world is bent so that a mutant shows.
import type { Profile } from './profile.js';
import type { StoryWeights } from './stories.js';

/** How the world of a mutant differs from the ordinary one; the same seeds pass in it without the mutant. */
export interface Bias {
  readonly profile?: Partial<Profile>;
  readonly stories?: Partial<StoryWeights>;
}
