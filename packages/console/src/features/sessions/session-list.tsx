/** The live list: rows hold still under the pointer, `j` `k` `enter` go through it, more pages come at its end. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useEffect, useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Cost, Duration, Time, Tokens } from '../../components/figures.tsx'
import { ListFoot } from '../../components/list-foot.tsx'
import { Empty, Failure, Skeleton } from '../../components/notices.tsx'
import { SessionLink } from '../../components/session-link.tsx'
import { Status } from '../../components/status.tsx'
import { Table } from '../../components/table.tsx'
import type { TableColumn } from '../../components/table.tsx'
import type { SessionSummary } from '../../lib/api/types.ts'
import { useCommands } from '../../lib/commands.ts'
import { requestIdOf } from '../../lib/failures.ts'
import type { ChosenFilters } from '../../lib/filters.ts'
import { shortCostOf, shortTitleOf, shortTokensOf, stateOf } from '../../lib/session/facts.ts'
import { followWorkspace } from '../../lib/stream/workspace.ts'
import { words } from '../../lib/words.ts'
import { heldRows } from './held-rows.ts'
import { listNews, sessionsQuery } from './sessions.ts'

const { columns: names } = words.sessions

const columns: readonly TableColumn<SessionSummary>[] = [
  {
    name: names.status,
    width: 150,
    show: (session) => <SessionStatusSign {...session} />,
  },
  {
    name: names.title,
    isStrong: true,
    show: (session) => <SessionLink id={session.id} title={shortTitleOf(session)} />,
  },
  {
    name: names.agent,
    width: 180,
    from: 'drawer',
    show: ({ agent_name, agent_version }) => `${agent_name}@${agent_version}`,
  },
  {
    name: names.tokens,
    width: 84,
    isNumber: true,
    from: 'split',
    show: (session) => <Tokens count={shortTokensOf(session)} />,
  },
  {
    name: names.cost,
    width: 84,
    isNumber: true,
    from: 'phone',
    show: (session) => <Cost dollars={shortCostOf(session)} />,
  },
  {
    name: names.active,
    width: 100,
    isNumber: true,
    from: 'split',
    show: ({ active_seconds: seconds }) => <Duration ms={seconds * 1_000} />,
  },
  {
    name: names.updated,
    width: 84,
    isNumber: true,
    show: ({ last_event, updated_at }) => <Time at={last_event?.created_at ?? updated_at} />,
  },
]

const SessionStatusSign = (session: Pick<SessionSummary, 'status' | 'waiting_on' | 'failure'>) => {
  const { tone, word, more } = stateOf(session)
  return (
    <Status tone={tone} title={more}>
      {word}
    </Status>
  )
}

type SessionListProps = {
  filters: ChosenFilters
  onOpen: (session: SessionSummary) => void
  onClear: () => void
}

export function SessionList({ filters, onOpen, onClear }: SessionListProps) {
  const query = useInfiniteQuery(sessionsQuery(filters))
  const [held, setHeld] = useState<string[]>()
  const [chosen, setChosen] = useState<string>()
  const all = useMemo(() => query.data?.pages.flatMap(({ data }) => data) ?? [], [query.data])
  const { rows, newer } = heldRows(all, held)
  const move = useRowKeys(rows, chosen, setChosen, onOpen)
  useCommands(move)
  useNews()

  if (query.isPending) return <Skeleton rows={10} />
  if (query.isError && all.length === 0) {
    const { error } = query
    const again = () => void query.refetch()
    return <Failure message={error.message} requestId={requestIdOf(error)} onRetry={again} />
  }
  if (all.length === 0)
    return <NoSessions isFiltered={Object.keys(filters).length > 0} onClear={onClear} />
  return (
    <>
      <Table
        label={words.sessions.title}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        chosen={chosen}
        onOpen={onOpen}
        onPointer={(isOver) => setHeld(isOver ? all.map(({ id }) => id) : undefined)}
      />
      <ListFoot>
        {newer > 0 && (
          <Button kind="plain" onClick={() => setHeld(undefined)}>
            {words.sessions.newer(newer)}
          </Button>
        )}
        {query.hasNextPage && (
          <Button
            onClick={() => {
              setHeld(undefined)
              void query.fetchNextPage()
            }}
            isBusy={query.isFetchingNextPage}
          >
            {words.sessions.more}
          </Button>
        )}
      </ListFoot>
    </>
  )
}

/** Asks again when the workspace has news. */
function useNews(): void {
  const client = useQueryClient()
  useEffect(() => {
    const ends = new AbortController()
    followWorkspace(listNews(client), ends.signal)
    return () => ends.abort()
  }, [client])
}

function useRowKeys(
  rows: readonly SessionSummary[],
  chosen: string | undefined,
  choose: (id: string | undefined) => void,
  onOpen: (session: SessionSummary) => void,
) {
  return useMemo(() => {
    const at = rows.findIndex(({ id }) => id === chosen)
    const to = (index: number) => choose(rows[Math.max(0, Math.min(rows.length - 1, index))]?.id)
    const row = rows[at]
    return [
      { id: 'next', group: 'page', keys: 'j', label: words.sessions.next, run: () => to(at + 1) },
      {
        id: 'previous',
        group: 'page',
        keys: 'k',
        label: words.sessions.previous,
        run: () => to(at < 0 ? 0 : at - 1),
      },
      ...(row
        ? [
            {
              id: 'open',
              group: 'page' as const,
              keys: 'enter',
              label: words.sessions.openOne,
              run: () => onOpen(row),
            },
          ]
        : []),
    ] as const
  }, [rows, chosen, choose, onOpen])
}

const NoSessions = ({
  isFiltered,
  onClear,
}: {
  isFiltered: boolean
  onClear: () => void
}): ReactNode =>
  isFiltered ? (
    <Empty action={<Button onClick={onClear}>{words.sessions.clear}</Button>}>
      {words.sessions.noneFound}
    </Empty>
  ) : (
    <Empty
      request={`await client.beta.sessions.create({\n  agent: 'agent_…',\n  environment_id: 'env_…',\n})`}
    >
      {words.sessions.none}
    </Empty>
  )
