/** A list of the service in all its states: it comes, is empty, failed, or goes on. */
import type { ReactNode } from 'react'
import { useState } from 'react'
import { requestIdOf } from '../lib/failures.ts'
import type { ListState } from '../lib/list-state.ts'
import { useRowKeys } from '../lib/row-keys.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { ListFoot } from './list-foot.tsx'
import { Failure, Skeleton } from './notices.tsx'
import type { TableColumn } from './table.tsx'
import { Table } from './table.tsx'

type RecordTableProps<Row> = {
  label: string
  list: ListState<Row>
  columns: readonly TableColumn<Row>[]
  keyOf: (row: Row) => string
  onOpen?: (row: Row) => void
  /** The key of the row that is open beside the table. */
  opened?: string | undefined
  onPointer?: (isOver: boolean) => void
  /** What stands in place of no rows. */
  empty: ReactNode
  /** Stands before "show more". */
  foot?: ReactNode
}

const none: readonly never[] = []

export function RecordTable<Row>(props: RecordTableProps<Row>) {
  const { label, list, columns, keyOf, onOpen, opened, onPointer, empty, foot } = props
  const { rows = none, error } = list
  const [chosen, setChosen] = useState(opened)
  const [wasOpened, setWasOpened] = useState(opened)
  if (opened !== wasOpened) {
    setWasOpened(opened)
    setChosen(opened)
  }
  useRowKeys(rows, keyOf, chosen, setChosen, onOpen)
  if (rows.length === 0) {
    if (error)
      return <Failure message={error.message} requestId={requestIdOf(error)} onRetry={list.again} />
    return list.rows ? empty : <Skeleton rows={10} />
  }
  return (
    <>
      <Table
        label={label}
        columns={columns}
        rows={rows}
        keyOf={keyOf}
        chosen={chosen}
        {...(onOpen && { onOpen })}
        {...(onPointer && { onPointer })}
      />
      <ListFoot>
        {foot}
        {list.more && (
          <Button onClick={list.more} isBusy={list.isLoadingMore}>
            {words.list.more}
          </Button>
        )}
      </ListFoot>
    </>
  )
}
