import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { ArchivableTable, changedColumn } from '../../components/archivable-table.tsx'
import { Id, Time } from '../../components/figures.tsx'
import { RecordLink } from '../../components/record-link.tsx'
import type { TableColumn } from '../../components/table.tsx'
import type { Vault } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { vaultsQuery } from './vaults.ts'
import { vaultWords as own } from './words.ts'

const columns: readonly TableColumn<Vault>[] = [
  {
    name: own.columns.name,
    isStrong: true,
    show: ({ id, display_name }) => (
      <RecordLink to="/vaults/$vaultId" params={{ vaultId: id }}>
        {display_name}
      </RecordLink>
    ),
  },
  { name: own.columns.id, width: 200, from: 'phone', show: ({ id }) => <Id of={id} /> },
  {
    name: own.columns.made,
    width: 100,
    isNumber: true,
    from: 'drawer',
    show: ({ created_at }) => <Time at={created_at} />,
  },
  changedColumn,
]

/** `create` stands where no vault is. */
export function VaultList({
  onOpen,
  create,
}: {
  onOpen: (vault: Vault) => void
  create: ReactNode
}) {
  const [withArchived, setWithArchived] = useState(false)
  const query = useInfiniteQuery(vaultsQuery(withArchived))
  return (
    <ArchivableTable
      label={own.title}
      list={listStateOf(query)}
      columns={columns}
      onOpen={onOpen}
      withArchived={withArchived}
      onWithArchived={setWithArchived}
      none={own.none}
      create={create}
      request={`await client.beta.vaults.create({ display_name: 'production' })`}
    />
  )
}
