/** The workers of an environment: figures of its queue, the work itself, and keys, each shown once in the worker's command. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Time } from '../../components/figures.tsx'
import { Scroll, Stack } from '../../components/layout.tsx'
import { Failure, Skeleton } from '../../components/notices.tsx'
import { Figure, FigureRow, Panel, PanelEmpty, Panels } from '../../components/panel.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import { SessionLink } from '../../components/session-link.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table.tsx'
import type { Environment, WorkItem, WorkStats } from '../../lib/api/types.ts'
import { requestIdOf } from '../../lib/failures.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { shortId } from '../../lib/format/ids.ts'
import { listStateOf } from '../../lib/list-state.ts'
import type { StatusTone } from '../../lib/tones.ts'
import { workFiguresQuery, workQuery } from './environments.ts'
import type { MadeKey } from './worker-keys.tsx'
import { NewKey, WorkerKeys } from './worker-keys.tsx'
import { environmentWords as own } from './words.ts'

type WorkersViewProps = { environment: Environment; onSession: (id: string) => void }

export function WorkersView({ environment, onSession }: WorkersViewProps) {
  const { id } = environment
  const [made, setMade] = useState<MadeKey>()
  const figures = useQuery(workFiguresQuery(id))
  if (!figures.data)
    return figures.error ? (
      <Failure
        message={figures.error.message}
        requestId={requestIdOf(figures.error)}
        onRetry={() => void figures.refetch()}
      />
    ) : (
      <Skeleton />
    )
  return (
    <Scroll>
      <Panels>
        <Queue figures={figures.data} />
        <Work id={id} onSession={onSession} />
        <Stack>
          <NewKey environment={environment} made={made} onMade={setMade} />
          <WorkerKeys id={id} onRevoked={(key) => made?.id === key && setMade(undefined)} />
        </Stack>
      </Panels>
    </Scroll>
  )
}

function Queue({ figures }: { figures: WorkStats }) {
  const { depth, pending, oldest_queued_at, workers_polling: polling } = figures
  const isStuck = depth > 0 && polling === 0
  return (
    <FigureRow>
      <Figure name={own.figures.polling} more={own.figures.pollingMore}>
        {polling === null ? '–' : formatCount(polling)}
      </Figure>
      <Figure
        name={own.figures.waiting}
        meaning={isStuck ? 'failed' : undefined}
        more={isStuck ? own.figures.noWorker : own.figures.waitingMore}
      >
        {formatCount(depth)}
      </Figure>
      <Figure name={own.figures.pending} more={own.figures.pendingMore}>
        {formatCount(pending)}
      </Figure>
      <Figure name={own.figures.oldest} more={own.figures.oldestMore}>
        {oldest_queued_at === null ? own.figures.noneWaits : <Time at={oldest_queued_at} />}
      </Figure>
    </FigureRow>
  )
}

const tones: Record<WorkItem['state'], StatusTone> = {
  queued: 'queued',
  starting: 'running',
  active: 'running',
  stopping: 'idle',
  stopped: 'idle',
}

const columns: readonly TableColumn<WorkItem>[] = [
  {
    name: own.workColumns.state,
    width: 110,
    show: ({ state }) => <Status tone={tones[state]}>{own.states[state]}</Status>,
  },
  {
    name: own.workColumns.session,
    show: ({ data }) => <SessionLink id={data.id} title={shortId(data.id)} />,
  },
  {
    name: own.workColumns.heartbeat,
    width: 90,
    isNumber: true,
    from: 'phone',
    show: ({ latest_heartbeat_at: at }) => (at === null ? own.neverHeard : <Time at={at} />),
  },
  {
    name: own.workColumns.since,
    width: 80,
    isNumber: true,
    show: ({ created_at }) => <Time at={created_at} />,
  },
]

const idOf = ({ id }: WorkItem): string => id

function Work({ id, onSession }: { id: string; onSession: (session: string) => void }) {
  const query = useInfiniteQuery(workQuery(id))
  return (
    <Panel title={own.work} beside={own.workOrder}>
      <RecordTable
        label={own.work}
        list={listStateOf(query)}
        columns={columns}
        keyOf={idOf}
        onOpen={({ data }) => onSession(data.id)}
        empty={<PanelEmpty>{own.noWork}</PanelEmpty>}
      />
    </Panel>
  )
}
