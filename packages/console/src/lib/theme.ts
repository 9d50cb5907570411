/** The theme follows the system until somebody sets one. A cookie keeps it, so that the server paints it before any script. */
import { serviceUrl } from './place.ts'
import { createStore } from './store.ts'

export type ThemeChoice = 'system' | 'light' | 'dark'

const given = document.documentElement.dataset['theme']
export const theme = createStore<ThemeChoice>(
  given === 'light' || given === 'dark' ? given : 'system',
)

const cookiePath = new URL(`${serviceUrl}/`).pathname

export function setTheme(next: ThemeChoice): void {
  const { dataset } = document.documentElement
  if (next === 'system') delete dataset['theme']
  else dataset['theme'] = next
  const kept = next === 'system' ? 'max-age=0' : 'max-age=31536000'
  document.cookie = `steward_theme=${next}; path=${cookiePath}; samesite=lax; ${kept}`
  theme.set(next)
}

const order: ThemeChoice[] = ['system', 'light', 'dark']
export const nextTheme = (now: ThemeChoice): ThemeChoice =>
  order[(order.indexOf(now) + 1) % order.length] ?? 'system'
