/** The live list: rows hold still under the pointer, `j` `k` `enter` go through it, more pages come at its end. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useEffect, useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Empty } from '../../components/notices.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import type { SessionSummary } from '../../lib/api/types.ts'
import type { ChosenFilters } from '../../lib/filters.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { followWorkspace } from '../../lib/stream/workspace.ts'
import { words } from '../../lib/words.ts'
import { useColumns } from './columns.tsx'
import { heldRows } from './held-rows.ts'
import { listNews, sessionsQuery } from './sessions.ts'

type SessionListProps = {
  filters: ChosenFilters
  onOpen: (session: SessionSummary) => void
  onClear?: () => void
  /** What stands where no session is, in place of words about filters. */
  empty?: ReactNode
}

export function SessionList({ filters, onOpen, onClear, empty }: SessionListProps) {
  const query = useInfiniteQuery(sessionsQuery(filters))
  const [held, setHeld] = useState<string[]>()
  const { shown: columns } = useColumns()
  const list = listStateOf(query)
  const all = useMemo(() => query.data?.pages.flatMap(({ data }) => data) ?? [], [query.data])
  const { rows, newer } = heldRows(all, held)
  const { more } = list
  useNews()
  return (
    <RecordTable
      label={words.sessions.title}
      columns={columns}
      list={{
        ...list,
        rows: list.rows && rows,
        more: more && (() => (setHeld(undefined), more())),
      }}
      keyOf={idOf}
      onOpen={onOpen}
      onPointer={(isOver) => setHeld(isOver ? all.map(({ id }) => id) : undefined)}
      empty={empty ?? <NoSessions isFiltered={Object.keys(filters).length > 0} onClear={onClear} />}
      foot={
        newer > 0 && (
          <Button kind="plain" onClick={() => setHeld(undefined)}>
            {words.sessions.newer(newer)}
          </Button>
        )
      }
    />
  )
}

const idOf = ({ id }: SessionSummary): string => id

/** Asks again when the workspace has news. */
function useNews(): void {
  const client = useQueryClient()
  useEffect(() => {
    const ends = new AbortController()
    followWorkspace(listNews(client), ends.signal)
    return () => ends.abort()
  }, [client])
}

const NoSessions = ({
  isFiltered,
  onClear,
}: {
  isFiltered: boolean
  onClear: (() => void) | undefined
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
