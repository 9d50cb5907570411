/** A table whose rows lead somewhere. Keys move the chosen row; the pointer only shows where it is. */
import type { CSSProperties, ReactNode } from 'react'
import { useEffect, useRef } from 'react'

export type TableColumn<Row> = {
  name: string
  /** Pixels; without it, what is left. */
  width?: number
  isNumber?: boolean
  /** The name is there for screen readers alone. */
  isNameHidden?: boolean
  /** Below this width of the page the column is left out. */
  from?: 'phone' | 'drawer' | 'split' | 'wide'
  isStrong?: boolean
  /** On a phone its text takes as many lines as it needs. */
  isWrapped?: boolean
  show: (row: Row) => ReactNode
}

const hiddenBelow = {
  phone: 'max-phone:hidden',
  drawer: 'max-drawer:hidden',
  split: 'max-split:hidden',
  wide: 'max-wide:hidden',
}

/** Wide enough that a column without a width can be read. */
const minWidth = <Row,>(columns: readonly TableColumn<Row>[]): CSSProperties => {
  const all = columns.reduce((sum, { width = readable }) => sum + width, 0)
  return { ['--table-min' as string]: `${all}px` }
}
const readable = 200

type TableProps<Row> = {
  label: string
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  chosen?: string | undefined
  onOpen?: (row: Row) => void
  onPointer?: (isOver: boolean) => void
}

export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  chosen,
  onOpen,
  onPointer,
}: TableProps<Row>) {
  return (
    <table
      aria-label={label}
      style={minWidth(columns)}
      className="w-full table-fixed border-collapse wide:min-w-(--table-min)"
      onPointerEnter={() => onPointer?.(true)}
      onPointerLeave={() => onPointer?.(false)}
    >
      <thead>
        <tr>
          {columns.map(({ name, width, isNumber, isNameHidden, from }) => (
            <th
              key={name}
              scope="col"
              style={width === undefined ? undefined : { width }}
              className={`sticky top-0 h-[30px] border-b bg-n1 px-3 text-small font-medium text-n8 first:pl-4 last:pr-4 ${isNumber ? 'text-right' : 'text-left'} ${from ? hiddenBelow[from] : ''}`}
            >
              {isNameHidden ? <span className="sr-only">{name}</span> : name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <TableRow
            key={keyOf(row)}
            row={row}
            columns={columns}
            isChosen={keyOf(row) === chosen}
            onOpen={onOpen}
          />
        ))}
      </tbody>
    </table>
  )
}

function TableRow<Row>({
  row,
  columns,
  isChosen,
  onOpen,
}: {
  row: Row
  columns: readonly TableColumn<Row>[]
  isChosen: boolean
  onOpen: ((row: Row) => void) | undefined
}) {
  const place = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (isChosen) place.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <tr
      ref={place}
      data-chosen={isChosen || undefined}
      onClick={(event) => {
        const isLink = event.target instanceof Element && event.target.closest('a, button')
        if (!isLink && !event.defaultPrevented && !getSelection()?.toString()) onOpen?.(row)
      }}
      className={`scroll-mt-8 ${onOpen ? 'cursor-pointer' : ''} ${isChosen ? 'bg-accent-quiet' : 'hover:bg-n2'}`}
    >
      {columns.map(({ name, isNumber, isStrong, isWrapped, from, show }) => (
        <td
          key={name}
          className={`h-8 truncate border-b border-n3 px-3 first:pl-4 last:pr-4 ${isNumber ? 'text-right' : ''} ${isStrong ? 'font-medium text-n11' : ''} ${isWrapped ? 'max-phone:py-1 max-phone:whitespace-normal' : ''} ${from ? hiddenBelow[from] : ''}`}
        >
          {show(row)}
        </td>
      ))}
    </tr>
  )
}
