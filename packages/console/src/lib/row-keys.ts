/** `j` `k` and `enter` in a list whose rows open: they move the chosen row and open it. */
import { useMemo } from 'react'
import type { PageCommand } from './commands.ts'
import { useCommands } from './commands.ts'
import { words } from './words.ts'

export function useRowKeys<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  chosen: string | undefined,
  choose: (key: string) => void,
  onOpen: ((row: Row) => void) | undefined,
): void {
  useCommands(
    useMemo((): PageCommand[] => {
      if (!onOpen) return []
      const move = movesIn(rows.map(keyOf), chosen, choose)
      const row = rows.find((each) => keyOf(each) === chosen)
      if (row === undefined) return move
      return [
        ...move,
        {
          id: 'open',
          group: 'page',
          keys: 'enter',
          label: words.list.open,
          run: () => onOpen(row),
        },
      ]
    }, [rows, keyOf, chosen, choose, onOpen]),
  )
}

/** `j` and `k`, where a row that is chosen is open. */
export function useMoveKeys(
  keys: readonly string[],
  chosen: string | undefined,
  choose: (key: string) => void,
): void {
  useCommands(useMemo(() => movesIn(keys, chosen, choose), [keys, chosen, choose]))
}

function movesIn(
  keys: readonly string[],
  chosen: string | undefined,
  choose: (key: string) => void,
): PageCommand[] {
  const at = chosen === undefined ? -1 : keys.indexOf(chosen)
  const to = (index: number) => {
    const key = keys[Math.max(0, Math.min(keys.length - 1, index))]
    if (key !== undefined) choose(key)
  }
  return [
    { id: 'next', group: 'page', keys: 'j', label: words.list.next, run: () => to(at + 1) },
    {
      id: 'previous',
      group: 'page',
      keys: 'k',
      label: words.list.previous,
      run: () => to(at < 0 ? 0 : at - 1),
    },
  ]
}
