import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useMemo } from 'react'
import { Tokens } from '../../components/figures.tsx'
import { Quiet } from '../../components/layout.tsx'
import { Empty } from '../../components/notices.tsx'
import { RecordLink } from '../../components/record-link.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { cardChoices } from '../../lib/api/choices.ts'
import type { Model } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { priceOf } from '../../lib/model-facts.ts'
import { modelsQuery } from './models.ts'
import { modelWords as own } from './words.ts'

/** `cards`: the id of the card of each model that has one. */
const columnsWith = (cards: ReadonlyMap<string, string>): TableColumn<Model>[] => [
  {
    name: own.columns.model,
    isStrong: true,
    show: ({ id }) => {
      const cardId = cards.get(id)
      return cardId === undefined ? (
        id
      ) : (
        <RecordLink to="/models/$cardId" params={{ cardId }}>
          {id}
        </RecordLink>
      )
    },
  },
  { name: own.columns.name, from: 'split', show: ({ display_name }) => display_name },
  {
    name: own.columns.by,
    width: 110,
    from: 'phone',
    show: ({ id }) => <Quiet>{cards.has(id) ? own.card : own.operator}</Quiet>,
  },
  {
    name: own.columns.context,
    width: 90,
    isNumber: true,
    from: 'drawer',
    show: ({ max_input_tokens: most }) => limitOf(most),
  },
  {
    name: own.columns.output,
    width: 90,
    isNumber: true,
    from: 'drawer',
    show: ({ max_tokens: most }) => limitOf(most),
  },
  {
    name: own.columns.price,
    width: 190,
    isNumber: true,
    show: (model) => priceOf(model) ?? own.unknown,
  },
]

const limitOf = (tokens: number | null): ReactNode =>
  tokens === null ? own.unknown : <Tokens count={tokens} />

type ModelListProps = {
  onOpen: (card: string) => void
  /** Stands where no model is. */
  create: ReactNode
}

export function ModelList({ onOpen, create }: ModelListProps) {
  const query = useInfiniteQuery(modelsQuery)
  const { data } = useQuery(cardChoices)
  const cards = useMemo(
    () => new Map((data ?? []).map(({ id, model_id }) => [model_id, id])),
    [data],
  )
  const columns = useMemo(() => columnsWith(cards), [cards])
  const open = ({ id }: Model) => {
    const card = cards.get(id)
    if (card !== undefined) onOpen(card)
  }
  return (
    <RecordTable
      label={own.title}
      columns={columns}
      list={listStateOf(query)}
      keyOf={({ id }) => id}
      onOpen={open}
      empty={<Empty action={create}>{own.none}</Empty>}
    />
  )
}
