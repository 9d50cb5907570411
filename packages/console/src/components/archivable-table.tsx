/** A list of things that can be archived: without these, until somebody asks for them. */
import type { ComponentProps, ReactNode } from 'react'
import { words } from '../lib/words.ts'
import { Check } from './choices.tsx'
import { ToolLine } from './layout.tsx'
import { Empty } from './notices.tsx'
import { RecordTable } from './record-table.tsx'
import { Status } from './status.tsx'
import { Time } from './figures.tsx'
import type { TableColumn } from './table.tsx'

type Archivable = { id: string; archived_at: string | null; updated_at: string }

type ArchivableTableProps<Row> = Omit<
  ComponentProps<typeof RecordTable<Row>>,
  'keyOf' | 'empty' | 'foot'
> & {
  withArchived: boolean
  onWithArchived: (isOn: boolean) => void
  /** What stands in place of no rows: a sentence, an action, and the request that makes one. */
  none: string
  create: ReactNode
  request: string
}

const idOf = ({ id }: Archivable): string => id

export function ArchivableTable<Row extends Archivable>(props: ArchivableTableProps<Row>) {
  const { withArchived, onWithArchived, none, create, request, ...table } = props
  return (
    <>
      <ToolLine>
        <Check label={words.list.archivedToo} isOn={withArchived} onChange={onWithArchived} />
      </ToolLine>
      <RecordTable
        {...table}
        keyOf={idOf}
        empty={
          <Empty action={create} request={request}>
            {none}
          </Empty>
        }
      />
    </>
  )
}

/** When it was changed last, or that it is archived. */
export const changedColumn: TableColumn<Archivable> = {
  name: words.list.changed,
  width: 110,
  isNumber: true,
  show: ({ archived_at, updated_at }) =>
    archived_at === null ? (
      <Time at={updated_at} />
    ) : (
      <Status tone="idle">{words.list.archived}</Status>
    ),
}
