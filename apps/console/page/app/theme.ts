// Light or dark: as the system has it, or as the person chose it on this machine.
import { useState } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'recourse.theme';

function kept(): Theme {
  const found = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === found) ?? 'system';
}

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

show(kept());

export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState(kept);
  const next = (): void => {
    const chosen = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
    localStorage.setItem(KEY, chosen);
    show(chosen);
    setTheme(chosen);
  };
  return [theme, next];
}
