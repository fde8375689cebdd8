export const root: string;
export const keepDir: string;
export const cacheDir: string;
export const pinnedNode: string;
export const defaultDataDir: string;
