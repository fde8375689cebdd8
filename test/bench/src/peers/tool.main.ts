// The tool in a process of its own.
import { serve } from '../worker-process.js';
import { EffectBook } from './effect-book.js';
import { serveTool } from './tool-server.js';

serve({ port: await serveTool(new EffectBook()) }, () => Promise.resolve({}));
