/** The versions of a thing to choose from, the newest first, beside the one that was chosen. */
import type { ReactNode } from 'react'
import type { ListState } from '../lib/list-state.ts'
import { ListAndOne, ListChoice } from './layout.tsx'
import { MoreRows } from './list-foot.tsx'

type VersionListProps<Row> = {
  list: ListState<Row>
  keyOf: (row: Row) => string
  nameOf: (row: Row) => ReactNode
  endOf: (row: Row) => ReactNode
  shown: Row | undefined
  onChoose: (row: Row) => void
  /** What is shown of the chosen one. */
  children: ReactNode
}

export const VersionList = <Row,>(props: VersionListProps<Row>) => {
  const { list, keyOf, nameOf, endOf, shown, onChoose, children } = props
  return (
    <ListAndOne
      list={
        <>
          {list.rows?.map((row) => (
            <ListChoice
              key={keyOf(row)}
              isChosen={row === shown}
              onChoose={() => onChoose(row)}
              end={endOf(row)}
            >
              {nameOf(row)}
            </ListChoice>
          ))}
          <MoreRows list={list} />
        </>
      }
      one={children}
    />
  )
}
