import { createFileRoute, useNavigate } from '@tanstack/react-router'
import type { RefObject } from 'react'
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react'
import { ButtonLink } from '../components/button-link.tsx'
import { Button } from '../components/button.tsx'
import { FilterLine } from '../components/filter-line.tsx'
import { Scroll, WhereWide } from '../components/layout.tsx'
import { Page } from '../components/page.tsx'
import { ColumnsMenu } from '../features/sessions/columns-menu.tsx'
import { useSessionFields } from '../features/sessions/fields.ts'
import { filtersOf, namesThings, SessionSearch } from '../features/sessions/filters.ts'
import { SavedViews } from '../features/sessions/saved-views.tsx'
import { SessionList } from '../features/sessions/session-list.tsx'
import { sessionsQuery } from '../features/sessions/sessions.ts'
import { UnresolvedFilters } from '../features/sessions/unresolved-filters.tsx'
import type { SessionSummary } from '../lib/api/types.ts'
import { useCommands } from '../lib/commands.ts'
import type { ChosenFilters } from '../lib/filters.ts'
import { resolveFilters, withoutFilter } from '../lib/filters.ts'
import { words } from '../lib/words.ts'

const AllDialog = lazy(async () => ({
  default: (await import('../features/sessions/all-dialog.tsx')).AllDialog,
}))

export const Route = createFileRoute('/_app/sessions/')({
  validateSearch: (search) => SessionSearch.parse(search),
  loaderDeps: ({ search }) => filtersOf(search),
  // Not awaited: the list is asked for while its page is loaded. Names of an address are looked up first.
  loader: ({ context, deps }) =>
    namesThings(deps)
      ? undefined
      : void context.queryClient.prefetchInfiniteQuery(sessionsQuery(deps)),
  component: SessionsPage,
})

function SessionsPage() {
  const search = Route.useSearch()
  const navigate = useNavigate()
  const filters = useMemo(() => filtersOf(search), [search])
  const line = useRef<HTMLInputElement>(null)
  const [isAll, setAll] = useState(false)
  const [isTyping, setTyping] = useState(false)
  const { fields, error } = useSessionFields(filters, isTyping)
  const resolved = useMemo(() => resolveFilters(filters, fields), [filters, fields])
  const change = (next: ChosenFilters) => void navigate({ to: '/sessions', search: next })
  const open = useCallback(
    ({ id }: SessionSummary) =>
      void navigate({ to: '/sessions/$sessionId', params: { sessionId: id } }),
    [navigate],
  )
  useFilterKey(line)
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
          fields={fields}
          filters={filters}
          onChange={change}
          inputRef={line}
          onTyping={() => setTyping(true)}
          end={
            <>
              <SavedViews filters={filters} onChoose={change} />
              <WhereWide>
                <ColumnsMenu />
              </WhereWide>
              <Button
                size="small"
                kind="plain"
                offBecause={'filters' in resolved ? undefined : words.sessions.unnamed}
                onClick={() => setAll(true)}
              >
                {words.sessions.all.button}
              </Button>
            </>
          }
        />
      }
    >
      <Scroll>
        {'filters' in resolved ? (
          <SessionList filters={resolved.filters} onOpen={open} onClear={() => change({})} />
        ) : (
          <UnresolvedFilters
            resolved={resolved}
            error={error}
            onChoose={(field, id) => change({ ...filters, [field]: id })}
            onRemove={(field) => change(withoutFilter(filters, field, fields))}
          />
        )}
      </Scroll>
      <Suspense>
        {isAll && 'filters' in resolved && (
          <AllDialog filters={resolved.filters} onClose={() => setAll(false)} />
        )}
      </Suspense>
    </Page>
  )
}

function useFilterKey(line: RefObject<HTMLInputElement | null>): void {
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
      [line],
    ),
  )
}
