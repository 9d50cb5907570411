/** A page of the settings: the list of all of them beside it, above it where the window is narrow. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { openSettingsPages, settingsNames } from '../lib/settings-pages.ts'
import { words } from '../lib/words.ts'
import { Page } from './page.tsx'

type SettingsPageProps = {
  title: string
  beside?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

const row =
  'flex h-7 shrink-0 items-center rounded-base px-2 whitespace-nowrap text-n9 hover:bg-n3 hover:text-n11 aria-[current=page]:bg-n4 aria-[current=page]:font-medium aria-[current=page]:text-n11'

export const SettingsPage = ({ title, beside, actions, children }: SettingsPageProps) => (
  <Page
    title={title}
    crumbs={<Link to="/settings">{words.pages.settings}</Link>}
    beside={<span className="whitespace-nowrap text-n9 max-phone:hidden">{beside}</span>}
    actions={actions}
  >
    <div className="flex min-h-0 flex-1 max-drawer:flex-col">
      <nav
        aria-label={words.settings.list}
        className="flex w-[168px] shrink-0 flex-col gap-px overflow-auto border-r p-2 max-drawer:w-auto max-drawer:flex-row max-drawer:border-r-0 max-drawer:border-b"
      >
        {openSettingsPages().map((to) => (
          <Link key={to} to={to} className={row}>
            {settingsNames[to]}
          </Link>
        ))}
      </nav>
      <div className="relative min-h-0 min-w-0 flex-1 overflow-auto" tabIndex={-1}>
        <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-5 px-6 pt-5 pb-16 max-phone:px-4">
          {children}
        </div>
      </div>
    </div>
  </Page>
)
