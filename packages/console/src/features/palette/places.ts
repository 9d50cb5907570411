/** Pages that the palette opens and no key does: those that make a thing, and those of the settings. */
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { PaletteGroup } from '../../components/palette.tsx'
import { openSettingsPages, settingsNames } from '../../lib/settings-pages.ts'
import { words } from '../../lib/words.ts'

const { palette: own } = words

const forms = [
  { to: '/sessions/new', label: own.make.session },
  { to: '/agents/new', label: own.make.agent },
  { to: '/environments/new', label: own.make.environment },
  { to: '/skills/new', label: own.make.skill },
  { to: '/models/new', label: own.make.card },
] as const

export function usePlaces(): readonly PaletteGroup[] {
  const navigate = useNavigate()
  return useMemo(
    () => [
      {
        name: own.make.title,
        items: forms.map(({ to, label }) => ({ id: to, label, run: () => void navigate({ to }) })),
      },
      {
        name: words.pages.settings,
        items: openSettingsPages().map((to) => ({
          id: to,
          label: settingsNames[to],
          run: () => void navigate({ to }),
        })),
      },
    ],
    [navigate],
  )
}
