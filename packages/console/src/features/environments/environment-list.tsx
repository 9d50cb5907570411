import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { ArchivedLine } from '../../components/archived-line.tsx'
import { Time } from '../../components/figures.tsx'
import { Empty } from '../../components/notices.tsx'
import { RecordLink } from '../../components/record-link.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table.tsx'
import type { Environment } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { draftOf, packagesOf } from './draft.ts'
import { environmentsQuery } from './environments.ts'
import { environmentWords as own } from './words.ts'

const columns: readonly TableColumn<Environment>[] = [
  {
    name: own.columns.name,
    isStrong: true,
    show: ({ id, name }) => (
      <RecordLink to="/environments/$environmentId" params={{ environmentId: id }}>
        {name}
      </RecordLink>
    ),
  },
  {
    name: own.columns.kind,
    width: 130,
    show: ({ config, archived_at }) =>
      archived_at === null ? own.kinds[config.type] : <Status tone="idle">{own.archived}</Status>,
  },
  { name: own.columns.network, width: 180, from: 'drawer', show: (row) => networkOf(row) },
  {
    name: own.columns.packages,
    from: 'split',
    show: (row) =>
      packagesOf(draftOf(row))
        .map(({ name }) => name)
        .join(', ') || '–',
  },
  {
    name: own.columns.updated,
    width: 100,
    isNumber: true,
    from: 'phone',
    show: ({ updated_at }) => <Time at={updated_at} />,
  },
]

function networkOf({ config, network: { allowlist } }: Environment): string {
  const isOpen =
    config.type === 'cloud' ? config.networking?.type !== 'limited' : allowlist.length === 0
  if (isOpen) return own.everyHost
  return allowlist.length === 0 ? own.noHost : own.hostCount(allowlist.length)
}

/** `create` stands where no environment is. */
export function EnvironmentList({
  onOpen,
  create,
}: {
  onOpen: (environment: Environment) => void
  create: ReactNode
}) {
  const [withArchived, setWithArchived] = useState(false)
  const list = listStateOf(useInfiniteQuery(environmentsQuery(withArchived)))
  return (
    <>
      <ArchivedLine isOn={withArchived} onChange={setWithArchived} />
      <RecordTable
        label={own.title}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={onOpen}
        empty={
          <Empty
            action={create}
            request={`await client.beta.environments.create({\n  name: 'python',\n  config: { type: 'cloud', packages: { pip: ['rich'] } },\n})`}
          >
            {own.none}
          </Empty>
        }
      />
    </>
  )
}
