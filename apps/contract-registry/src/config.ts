// Environment of the contract registry.
import { SERVICE_CONFIG } from '@recourse/service';

export const CONFIG = { ...SERVICE_CONFIG } as const;
