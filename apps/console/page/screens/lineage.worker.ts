// The layout beside the page: it answers each asked picture with the places of its boxes.
import { placed } from './lineage.placing.js';
import type { Asked } from './lineage.placing.js';

interface Question extends Asked {
  readonly id: number;
}

addEventListener('message', ({ data }: MessageEvent<Question>) => {
  postMessage({ id: data.id, places: placed(data) });
});
