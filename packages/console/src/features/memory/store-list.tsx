import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { ArchivableTable, changedColumn } from '../../components/archivable-table.tsx'
import { Time } from '../../components/figures.tsx'
import { Quiet } from '../../components/layout.tsx'
import { RecordLink } from '../../components/record-link.tsx'
import type { TableColumn } from '../../components/table.tsx'
import type { MemoryStore } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { storesQuery } from './memory.ts'
import { storeWords as own } from './words.ts'

const columns: readonly TableColumn<MemoryStore>[] = [
  {
    name: own.columns.name,
    isStrong: true,
    show: ({ id, name }) => (
      <RecordLink to="/memory/$storeId" params={{ storeId: id }}>
        {name}
      </RecordLink>
    ),
  },
  {
    name: own.columns.about,
    from: 'drawer',
    show: ({ description }) => <Quiet>{description}</Quiet>,
  },
  {
    name: own.columns.made,
    width: 100,
    isNumber: true,
    from: 'split',
    show: ({ created_at }) => <Time at={created_at} />,
  },
  changedColumn,
]

const request = `await client.beta.memoryStores.create({
  name: 'conventions',
  description: 'How this team writes code',
})`

type StoreListProps = {
  onOpen: (store: MemoryStore) => void
  /** Stands where no store is. */
  create: ReactNode
}

export function StoreList({ onOpen, create }: StoreListProps) {
  const [withArchived, setWithArchived] = useState(false)
  const list = listStateOf(useInfiniteQuery(storesQuery(withArchived)))
  const archived = { withArchived, onWithArchived: setWithArchived }
  return (
    <ArchivableTable
      {...archived}
      label={own.title}
      list={list}
      columns={columns}
      create={create}
      none={own.none}
      request={request}
      onOpen={onOpen}
    />
  )
}
