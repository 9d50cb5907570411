import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react'
import { ButtonLink } from '../components/button-link.tsx'
import { Button } from '../components/button.tsx'
import { FilterLine } from '../components/filter-line.tsx'
import { Scroll } from '../components/layout.tsx'
import { Page } from '../components/page.tsx'
import { filtersOf, sessionFields, SessionSearch } from '../features/sessions/filters.ts'
import { SavedViews } from '../features/sessions/saved-views.tsx'
import { SessionList } from '../features/sessions/session-list.tsx'
import { sessionsQuery } from '../features/sessions/sessions.ts'
import type { SessionSummary } from '../lib/api/types.ts'
import { useCommands } from '../lib/commands.ts'
import type { ChosenFilters } from '../lib/filters.ts'
import { words } from '../lib/words.ts'

const AllDialog = lazy(async () => ({
  default: (await import('../features/sessions/all-dialog.tsx')).AllDialog,
}))

export const Route = createFileRoute('/_app/sessions/')({
  validateSearch: (search) => SessionSearch.parse(search),
  loaderDeps: ({ search }) => filtersOf(search),
  // Not awaited: the list is asked for while its page is loaded.
  loader: ({ context, deps }) =>
    void context.queryClient.prefetchInfiniteQuery(sessionsQuery(deps)),
  component: SessionsPage,
})

function SessionsPage() {
  const search = Route.useSearch()
  const navigate = useNavigate()
  const filters = useMemo(() => filtersOf(search), [search])
  const line = useRef<HTMLInputElement>(null)
  const [isAll, setAll] = useState(false)
  const change = (next: ChosenFilters) => void navigate({ to: '/sessions', search: next })
  const open = useCallback(
    ({ id }: SessionSummary) =>
      void navigate({ to: '/sessions/$sessionId', params: { sessionId: id } }),
    [navigate],
  )
  useCommands(
    useMemo(
      () => [
        {
          id: 'filter',
          group: 'page' as const,
          keys: '/',
          label: words.sessions.focusFilter,
          run: () => line.current?.focus(),
        },
      ],
      [],
    ),
  )
  return (
    <Page
      title={words.sessions.title}
      actions={
        <ButtonLink kind="primary" to="/sessions/new">
          {words.sessions.begin}
        </ButtonLink>
      }
      line={
        <FilterLine
          label={words.sessions.filter}
          placeholder={words.sessions.filterHint}
          fields={sessionFields}
          filters={filters}
          onChange={change}
          inputRef={line}
          end={
            <>
              <SavedViews filters={filters} onChoose={change} />
              <Button size="small" kind="plain" onClick={() => setAll(true)}>
                {words.sessions.all.button}
              </Button>
            </>
          }
        />
      }
    >
      <Scroll>
        <SessionList filters={filters} onOpen={open} onClear={() => change({})} />
      </Scroll>
      <Suspense>{isAll && <AllDialog filters={filters} onClose={() => setAll(false)} />}</Suspense>
    </Page>
  )
}
