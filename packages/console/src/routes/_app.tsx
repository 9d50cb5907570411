import { createFileRoute, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { Frame } from '../components/frame.tsx'
import {
  IconAgents,
  IconEnvironments,
  IconFiles,
  IconFold,
  IconHome,
  IconMemory,
  IconModels,
  IconSessions,
  IconSettings,
  IconSkills,
  IconTheme,
  IconVaults,
} from '../components/icons.tsx'
import { RailButton, RailFoot, RailGroup, RailItem, RailPages } from '../components/rail.tsx'
import { useTabIcon } from '../components/tab-icon.ts'
import { accountQuery, workspaceOf } from '../features/account/account.ts'
import { PersonMenu } from '../features/account/person-menu.tsx'
import { WorkspaceMenu } from '../features/account/workspace-menu.tsx'
import { homeNews, overviewQuery } from '../features/home/home.ts'
import { asksCount } from '../lib/asks.ts'
import { listenToKeys, useCommands } from '../lib/commands.ts'
import type { PageCommand } from '../lib/commands.ts'
import { ownRole } from '../lib/rights.ts'
import { useStore } from '../lib/store.ts'
import { followWorkspace } from '../lib/stream/workspace.ts'
import { tabKey, tabWorkspace } from '../lib/tab.ts'
import { nextTheme, setTheme, theme } from '../lib/theme.ts'
import { switchTimeZone } from '../lib/time-zone.ts'
import { words } from '../lib/words.ts'

const PaletteBox = lazy(async () => ({
  default: (await import('../features/palette/palette-box.tsx')).PaletteBox,
}))
const KeyHelp = lazy(async () => ({
  default: (await import('../components/key-help.tsx')).KeyHelp,
}))

export const Route = createFileRoute('/_app')({
  // Awaited where the tab does not know yet which workspace it shows; else page and data come at the same time.
  beforeLoad: async ({ context }) => {
    const isKnown = tabKey() !== undefined || tabWorkspace() !== undefined
    const asked = context.queryClient.prefetchQuery(accountQuery)
    if (!isKnown) await asked
  },
  component: App,
  // Every page needs it: a part of its own would only come later.
  codeSplitGroupings: [],
})

const groups = [
  {
    name: undefined,
    pages: [
      { to: '/', name: words.pages.home, keys: 'g h', icon: <IconHome /> },
      { to: '/sessions', name: words.pages.sessions, keys: 'g s', icon: <IconSessions /> },
      { to: '/agents', name: words.pages.agents, keys: 'g a', icon: <IconAgents /> },
    ],
  },
  {
    name: words.groups.build,
    pages: [
      {
        to: '/environments',
        name: words.pages.environments,
        keys: 'g e',
        icon: <IconEnvironments />,
      },
      { to: '/vaults', name: words.pages.vaults, keys: 'g v', icon: <IconVaults /> },
      { to: '/memory', name: words.pages.memory, keys: 'g m', icon: <IconMemory /> },
      { to: '/skills', name: words.pages.skills, keys: 'g k', icon: <IconSkills /> },
      { to: '/files', name: words.pages.files, keys: 'g f', icon: <IconFiles /> },
      { to: '/models', name: words.pages.models, keys: 'g o', icon: <IconModels /> },
    ],
  },
  {
    name: words.groups.workspace,
    pages: [{ to: '/settings', name: words.pages.settings, keys: 'g ,', icon: <IconSettings /> }],
  },
] as const
const pages = groups.flatMap((group) => [...group.pages])
const notLists: readonly string[] = ['/', '/sessions', '/settings']
const lists = pages.filter(({ to }) => !notLists.includes(to))

function App() {
  const { data: me } = useQuery(accountQuery)
  const [shown, setShown] = useState<'palette' | 'keys'>()
  const close = () => setShown(undefined)
  useEffect(() => {
    const ends = new AbortController()
    listenToKeys(ends.signal)
    return () => ends.abort()
  }, [])
  const role = me && workspaceOf(me)?.role
  useEffect(() => ownRole.set(role), [role])
  const asks = useAsks()
  useTold()
  useGlobalCommands(setShown)
  return (
    <Frame
      openPalette={() => setShown('palette')}
      rail={({ isFolded, fold }) => (
        <>
          <RailPages label={words.frame.navigation}>
            {me && <WorkspaceMenu me={me} isFolded={isFolded} />}
            {groups.map((group) => (
              <Fragment key={group.name ?? ''}>
                {group.name && <RailGroup name={group.name} isFolded={isFolded} />}
                {group.pages.map(({ to, name, icon }) => (
                  <RailItem
                    key={to}
                    to={to}
                    name={name}
                    icon={icon}
                    isFolded={isFolded}
                    {...(to === '/' && { count: asks })}
                  />
                ))}
              </Fragment>
            ))}
          </RailPages>
          <RailFoot isFolded={isFolded}>
            {me && <PersonMenu me={me} isFolded={isFolded} />}
            <ThemeButton />
            {fold && (
              <RailButton
                icon={<IconFold />}
                label={isFolded ? words.frame.unfold : words.frame.fold}
                onClick={fold}
              />
            )}
          </RailFoot>
        </>
      )}
    >
      <Outlet />
      <Suspense>
        {shown === 'palette' && <PaletteBox onClose={close} />}
        {shown === 'keys' && <KeyHelp onClose={close} />}
      </Suspense>
    </Frame>
  )
}

/** How many sessions ask people; the number follows the news of the workspace. */
function useAsks(): number {
  const client = useQueryClient()
  const { data } = useQuery(overviewQuery)
  useEffect(() => {
    const ends = new AbortController()
    followWorkspace(homeNews(client), ends.signal)
    return () => ends.abort()
  }, [client])
  const asks = data?.waiting.person ?? 0
  useEffect(() => asksCount.set(asks), [asks])
  useTabIcon(asks > 0)
  return asks
}

/** Tells of what asks also while the page is not looked at. Loaded when the page stands. */
function useTold(): void {
  const navigate = useNavigate()
  useEffect(() => {
    const ends = new AbortController()
    const open = (sessionId: string) =>
      void navigate({ to: '/sessions/$sessionId', params: { sessionId } })
    void import('../lib/tell-asks.ts').then(({ tellAsks }) => {
      if (!ends.signal.aborted) tellAsks(open, ends.signal)
    })
    return () => ends.abort()
  }, [navigate])
}

function ThemeButton() {
  const now = useStore(theme)
  return (
    <RailButton
      icon={<IconTheme />}
      label={words.frame.theme[now]}
      onClick={() => setTheme(nextTheme(now))}
    />
  )
}

/**
 * The list that a page of one thing belongs to. A session closes its details by the same key, and a form
 * keeps what was typed.
 */
function useListAbove() {
  const path = useLocation({ select: ({ pathname }) => pathname })
  if (path.endsWith('/new')) return undefined
  return lists.find(({ to }) => path.startsWith(`${to}/`))
}

function useGlobalCommands(show: (what: 'palette' | 'keys') => void): void {
  const navigate = useNavigate()
  const above = useListAbove()
  const given = useMemo<PageCommand[]>(
    () => [
      {
        id: 'palette',
        group: 'console',
        label: words.keys.palette,
        keys: '⌘K',
        run: () => show('palette'),
      },
      { id: 'keys', group: 'console', label: words.keys.help, keys: '?', run: () => show('keys') },
      {
        id: 'theme',
        group: 'console',
        label: words.keys.theme,
        run: () => setTheme(nextTheme(theme.get())),
      },
      {
        id: 'components',
        group: 'go',
        label: words.pages.components,
        run: () => void navigate({ to: '/components' }),
      },
      { id: 'utc', group: 'console', label: words.frame.utc, run: switchTimeZone },
      ...(above
        ? [
            {
              id: 'back',
              group: 'page' as const,
              label: words.keys.backTo(above.name),
              keys: 'escape',
              run: () => void navigate({ to: above.to }),
            },
          ]
        : []),
      ...pages.map(({ to, name, keys }): PageCommand => ({
        id: `go ${to}`,
        group: 'go',
        label: name,
        keys,
        run: () => void navigate({ to }),
      })),
    ],
    [navigate, show, above],
  )
  useCommands(given)
}
